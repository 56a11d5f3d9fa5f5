"""`/v1/series`: several messages to a recipient over days."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import actor_of, caller_of, key_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.problems import FieldError, Problem
from notifications.core.rules.request import Name
from notifications.core.store.postgres import audit
from notifications.features.series import figures, versions
from notifications.features.series.models import Series
from notifications.features.series.rules.states import SeriesState


class SeriesRequest(RequestModel):
    """A new series."""

    name: Name
    """Unique per producer."""
    definition: dict[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class SeriesDraft(RequestModel):
    """The content of the next version."""

    definition: dict[str, Any]
    """Trigger, goal and steps, as in `docs/series.md`."""


class SeriesAnswer(ResponseModel):
    """A series with its versions and the number of enrolments."""

    name: str
    state: SeriesState
    version: int | None
    """Number of the published version, which new enrolments take; null: not published."""
    definition: dict[str, Any] | None
    """Content of the published version."""
    draft: dict[str, Any] | None
    """Content of the next version; null: no draft."""
    enrolments: dict[str, int]
    """Enrolments by state."""
    steps: dict[str, int]
    """Running enrolments by the position of the step."""
    created_at: dt.datetime
    updated_at: dt.datetime


class SeriesListView(BaseView):
    """`/v1/series`: create and list series."""

    @extend_schema(
        operation_id="create_series",
        summary="Create a series",
        request=SeriesRequest,
        responses={201: SeriesAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a series with a draft. The series takes enrolments after the publication."""
        wanted = parse_body(request.data, SeriesRequest)
        with audit.changes(actor_of(request), "create_series") as made:
            series = versions.create(caller_of(request), wanted.name, wanted.definition)
            if isinstance(series, Problem):
                raise_problem(_within(series))
            made.append(series)
        return Response(_answer(series), status=201)

    @extend_schema(
        operation_id="list_series",
        summary="List series, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(SeriesAnswer)},
        tags=["Series"],
    )
    def get(self, request: Request) -> Response:
        """List the series of the key's producer and mode."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _mine(request).select_related("current"), _answer)


class SeriesDetailView(BaseView):
    """`/v1/series/{series_name}`: read a series and replace the draft."""

    @extend_schema(
        operation_id="get_series",
        summary="Read a series",
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    def get(self, request: Request, series_name: str) -> Response:
        """Return a series with the published version, the draft and the enrolments by step."""
        return Response(_answer(find_series(request, series_name)))

    @extend_schema(
        operation_id="change_series",
        summary="Replace the draft of a series",
        request=SeriesDraft,
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    def put(self, request: Request, series_name: str) -> Response:
        """Replace the draft of a series, or begin a draft. Running enrolments do not change."""
        wanted = parse_body(request.data, SeriesDraft)
        series = find_series(request, series_name)
        rows = series.versions.filter(published_at=None)
        with audit.changes(actor_of(request), "change_series", rows) as made:
            draft = versions.save_draft(series, wanted.definition)
            if isinstance(draft, Problem):
                raise_problem(_within(draft))
            made.append(draft)
        return Response(_answer(find_series(request, series_name)))


class SeriesPublishView(BaseView):
    """`/v1/series/{series_name}/publish`: publish the draft."""

    @extend_schema(
        operation_id="publish_series",
        summary="Publish the draft of a series",
        request=None,
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str) -> Response:
        """Publish the draft. New enrolments take the version; running enrolments keep theirs."""
        series = find_series(request, series_name)
        rows = Series.objects.filter(pk=series.pk)
        with audit.changes(actor_of(request), "publish_series", rows):
            done = versions.publish(caller_of(request), series, by=actor_of(request))
            if isinstance(done, Problem):
                raise_problem(_within(done))
        return Response(_answer(find_series(request, series_name)))


class SeriesStateView(BaseView):
    """`/v1/series/{series_name}/pause`, `resume` and `archive`."""

    def _change(self, request: Request, series_name: str, to: SeriesState, verb: str) -> Response:
        series = find_series(request, series_name)
        rows = Series.objects.filter(pk=series.pk)
        with audit.changes(actor_of(request), f"{verb}_series", rows):
            done = versions.change_state(series, to, by=actor_of(request))
            if isinstance(done, Problem):
                raise_problem(done)
        return Response(_answer(find_series(request, series_name)))


class SeriesPauseView(SeriesStateView):
    """`/v1/series/{series_name}/pause`: pause a series."""

    @extend_schema(
        operation_id="pause_series",
        summary="Pause a series",
        request=None,
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str) -> Response:
        """Pause a series: due steps wait. Messages that were accepted before are still sent."""
        return self._change(request, series_name, SeriesState.PAUSED, "pause")


class SeriesResumeView(SeriesStateView):
    """`/v1/series/{series_name}/resume`: resume a series."""

    @extend_schema(
        operation_id="resume_series",
        summary="Resume a series",
        request=None,
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str) -> Response:
        """Resume a paused series: steps that came due during the pause run now."""
        return self._change(request, series_name, SeriesState.ACTIVE, "resume")


class SeriesArchiveView(SeriesStateView):
    """`/v1/series/{series_name}/archive`: archive a series."""

    @extend_schema(
        operation_id="archive_series",
        summary="Archive a series",
        request=None,
        responses={200: SeriesAnswer},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request, series_name: str) -> Response:
        """End a series for good: all enrolments exit, and the series takes no more."""
        return self._change(request, series_name, SeriesState.ARCHIVED, "archive")


def _mine(request: Request) -> QuerySet[Series]:
    key = key_of(request)
    return Series.objects.filter(producer_id=key.producer_id, mode=key.mode)


def find_series(request: Request, name: str) -> Series:
    """Return a series of the key's producer and mode; raises `NotFound`."""
    found = _mine(request).select_related("current").filter(name=name).first()
    if found is None:
        raise_not_found("series")
    return found


def _within(problem: Problem) -> Problem:
    """Return a problem of a definition with pointers into the body."""
    prefix = "/definition"
    errors = tuple(
        error if error.pointer == "/name" else FieldError(prefix + error.pointer, error.detail)
        for error in problem.errors
    )
    detail = problem.detail
    if errors and errors[0].pointer.startswith(prefix):
        detail = f"{errors[0].pointer}: {errors[0].detail}"
    return Problem(problem.kind, detail, errors)


def _answer(series: Series) -> dict[str, Any]:
    counts = figures.of_series([series.pk])[series.pk]
    draft = series.versions.filter(published_at=None).first()
    return SeriesAnswer(
        name=series.name,
        state=SeriesState(series.state),
        version=series.current.number if series.current else None,
        definition=versions.content_of(series.current),
        draft=versions.content_of(draft),
        enrolments=dict(counts.by_state),
        steps=dict(counts.by_step),
        created_at=series.created_at,
        updated_at=series.updated_at,
    ).to_json()
