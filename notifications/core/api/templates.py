"""`/v1/templates`: draft, preview, publish and compare templates.

Templates are company-wide and shared by live and test mode. `templates:write` drafts a version and
`templates:publish` publishes a version, so a CI pipeline can draft and a person can publish.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, Q
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import conf
from notifications.core.api import etags, schema, throttle
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.template_schemas import (
    MAX_VERSION,
    DiffAnswer,
    DiffQuery,
    InAppAnswer,
    PreviewAnswer,
    PreviewRequest,
    TemplateAnswer,
    TemplateLine,
    TemplateQuery,
    TemplateRequest,
    TemplateStep,
    TextAnswer,
    VersionAnswer,
    VersionLine,
    VersionRequest,
)
from notifications.core.clock import monotonic
from notifications.core.models import Template, TemplateEvent
from notifications.core.rules import in_app
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.templates import diff, previews
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.postgres import audit
from notifications.core.store.templates import versions
from notifications.core.store.templates.versions import NotPublishable

_PAID_BY: Final = dt.timedelta(milliseconds=10)
"""Rendering time of a preview which costs as much as a write, on top of the basic cost of 1."""
SHOWN: Final = 100
"""Maximum number of versions and of events in a response; the latest are shown."""


class TemplateListView(BaseView):
    """`/v1/templates`: list and draft templates."""

    @extend_schema(
        operation_id="list_templates",
        summary="List templates by name",
        parameters=schema.parameters(TemplateQuery),
        responses={200: schema.page_of(TemplateLine)},
        tags=["Templates"],
    )
    def get(self, request: Request) -> Response:
        """List templates with the number of the current version and of the newest version."""
        query = parse_query(request, TemplateQuery)
        found = (
            Template.objects
            .filter(template_id__gt=query.cursor or "")
            .values("template_id")
            .annotate(
                current_version=Max("version", filter=Q(published_at__isnull=False)),
                newest_version=Max("version"),
                last_change=Max("updated_at"),
            )
            .order_by("template_id")[: query.limit + 1]
        )
        lines = [
            TemplateLine.model_validate(row | {"updated_at": row["last_change"]}) for row in found
        ]
        shown = lines[: query.limit]
        following = shown[-1].template_id if len(lines) > query.limit else None
        return page(request, [line.to_json() for line in shown], following=following)

    @extend_schema(
        operation_id="create_template",
        summary="Draft a template or a new version",
        request=TemplateRequest,
        responses={201: VersionAnswer},
        tags=["Templates"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a draft: a new template, or the next version of a template.

        A draft is not used before publishing.
        """
        wanted = parse_body(request.data, TemplateRequest)
        with audit.changes(actor_of(request), "create_template") as news:
            made = versions.draft(
                wanted.template_id, wanted.as_content(), by=key_of(request).prefix, note=wanted.note
            )
            news.append(made)
        return Response(_version(made).to_json(), status=201)


class TemplateDetailView(BaseView):
    """`/v1/templates/{template_id}`: read a template."""

    @extend_schema(
        operation_id="get_template",
        summary="Read a template's versions and history",
        parameters=[etags.IF_NONE_MATCH],
        responses={200: TemplateAnswer, 304: None},
        tags=["Templates"],
    )
    def get(self, request: Request, template_id: str) -> Response:
        """Return a template with the latest 100 versions and 100 events of the history."""
        told = _whole(template_id)
        return etags.etag_response(request, told, etags.tag_of(told))


class TemplateVersionView(BaseView):
    """`/v1/templates/{template_id}/versions/{version}`: read a version."""

    @extend_schema(
        operation_id="get_template_version",
        summary="Read a version with all texts",
        responses={200: VersionAnswer},
        tags=["Templates"],
    )
    def get(self, request: Request, template_id: str, version: int) -> Response:  # noqa: ARG002 - DRF's signature
        """Return a version with all texts as stored, with normalised line ends and locales."""
        return Response(_version(_get_version(template_id, version)).to_json())


class TemplatePublishView(BaseView):
    """`/v1/templates/{template_id}/publish`: publish a draft."""

    @extend_schema(
        operation_id="publish_template",
        summary="Publish a draft",
        parameters=[etags.IF_MATCH],
        request=VersionRequest,
        responses={200: VersionAnswer},
        tags=["Templates"],
    )
    @idempotent
    def post(self, request: Request, template_id: str) -> Response:
        """Make a draft the current version.

        New notifications use the version within two seconds; accepted notifications keep the
        version of acceptance.
        """
        made = _make_current(request, template_id, "publish_template")
        return Response(_version(made).to_json())


class TemplateRollbackView(BaseView):
    """`/v1/templates/{template_id}/rollback`: publish an earlier version again."""

    @extend_schema(
        operation_id="roll_back_template",
        summary="Publish an earlier version again",
        parameters=[etags.IF_MATCH],
        request=VersionRequest,
        responses={201: VersionAnswer},
        tags=["Templates"],
    )
    @idempotent
    def post(self, request: Request, template_id: str) -> Response:
        """Copy an earlier version to a new version and publish the copy.

        The version number of a notification therefore always identifies the text.
        """
        made = _make_current(request, template_id, "roll_back_template")
        return Response(_version(made).to_json(), status=201)


class TemplatePreviewView(BaseView):
    """`/v1/templates/{template_id}/preview`: render a version."""

    @extend_schema(
        operation_id="preview_template",
        summary="Render a version with sample variables",
        request=PreviewRequest,
        responses={200: PreviewAnswer},
        tags=["Templates"],
    )
    def post(self, request: Request, template_id: str) -> Response:
        """Render a version with the given variables.

        The call stores and sends nothing, so a repeat needs no idempotency key.
        """
        started = monotonic()
        try:
            return self._render_preview(request, template_id)
        finally:
            took = dt.timedelta(seconds=monotonic() - started)
            throttle.charge_afterwards(self, request, cost=took // _PAID_BY)

    def _render_preview(self, request: Request, template_id: str) -> Response:
        wanted = parse_body(request.data, PreviewRequest)
        version = _get_version(template_id, wanted.version)
        texts = versions.content_of(version).texts
        words = previews.chosen(
            texts, wanted.channel, wanted.locale, default=version.default_locale
        )
        if words is None:
            detail = f"{version} has no text for {wanted.channel.label}"
            raise_problem(Problem(Kind.INVALID, detail, (FieldError("/channel", detail),)))
        shown = previews.preview(
            words, wanted.variables, url_schemes=conf.current().inbox_url_schemes
        )
        told = PreviewAnswer(
            version=version.version,
            channel=words.channel,
            locale=words.locale,
            title=shown.rendered and shown.rendered.title,
            body=shown.rendered and shown.rendered.body,
            html=shown.rendered and shown.rendered.html,
            **InAppAnswer.fields_of(shown.rendered.in_app if shown.rendered else in_app.EMPTY),
            sizes=dict(shown.sizes),
            segments=shown.sms and shown.sms.segments,
            missing=list(shown.missing),
            problems=list(shown.problems),
        )
        return Response(told.to_json())


class TemplateDiffView(BaseView):
    """`/v1/templates/{template_id}/diff`: compare two versions."""

    @extend_schema(
        operation_id="diff_template",
        summary="Compare two versions",
        parameters=schema.parameters(DiffQuery),
        responses={200: DiffAnswer},
        tags=["Templates"],
    )
    def get(self, request: Request, template_id: str) -> Response:
        """Compare two versions line by line, in the format of exported files."""
        query = parse_query(request, DiffQuery)
        old = _get_version(template_id, query.old)
        new = versions.newest(template_id) if query.new is None else None
        new = new or _get_version(template_id, query.new)
        patch = diff.unified_diff(
            versions.content_of(old),
            versions.content_of(new),
            old_name=f"v{old.version}",
            new_name=f"v{new.version}",
        )
        told = DiffAnswer(
            template_id=template_id, old_version=old.version, new_version=new.version, diff=patch
        )
        return Response(told.to_json())


def _whole(template_id: str) -> dict[str, Any]:
    rows = Template.objects.filter(template_id=template_id).order_by("-version")[:SHOWN]
    if not rows:
        raise_not_found("template")
    current = versions.current(template_id)
    steps = TemplateEvent.objects.filter(template_id=template_id)[:SHOWN]
    told = TemplateAnswer(
        template_id=template_id,
        current_version=current.version if current else None,
        versions=[_line(row) for row in rows],
        history=[TemplateStep.model_validate(step) for step in steps],
    )
    return told.to_json()


def _current_tag(template_id: str) -> str | None:
    versions.lock(template_id)
    exists = Template.objects.filter(template_id=template_id).exists()
    return etags.tag_of(_whole(template_id)) if exists else None


_STEPS: Final[Mapping[str, Callable[..., Template]]] = {
    "publish_template": versions.publish,
    "roll_back_template": versions.roll_back,
}


def _make_current(request: Request, template_id: str, operation: str) -> Template:
    """Publish or roll back to the version in the body."""
    wanted = _get_version(template_id, parse_body(request.data, VersionRequest).version)
    before = Template.objects.filter(pk=wanted.pk)
    try:
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(template_id))
            with audit.changes(actor_of(request), operation, before) as news:
                made = _STEPS[operation](wanted, by=key_of(request).prefix)
                news.extend([made] * (made.pk != wanted.pk))
    except NotPublishable as error:
        raise_problem(Problem(Kind.CONFLICT, str(error)))
    return made


def _get_version(template_id: str, version: int | None) -> Template:
    """Return a version by number; without a number the current version, else the newest."""
    if version is None:
        found = versions.current(template_id) or versions.newest(template_id)
    else:
        named = Template.objects.filter(template_id=template_id, version=min(version, MAX_VERSION))
        found = named.first()
    if found is None:
        raise_not_found("template" if version is None else "version of this template")
    return found


def _line(version: Template) -> VersionLine:
    return VersionLine.model_validate(_facts(version))


def _version(version: Template) -> VersionAnswer:
    content = versions.content_of(version)
    texts = [_text(words) for words in content.texts]
    return VersionAnswer.model_validate(_facts(version) | dict(content.settings) | {"texts": texts})


def _text(words: TextSource) -> TextAnswer:
    told = dataclasses.asdict(words) | InAppAnswer.fields_of(words.in_app)
    return TextAnswer.model_validate(told)


def _facts(version: Template) -> dict[str, object]:
    read = {name: getattr(version, name, None) for name in VersionLine.model_fields}
    return read | {"state": "published" if version.published_at else "draft"}
