"""`/v1/audience-uploads` and `/v1/audience-snapshots`: fixed sets of recipients."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import IO, Annotated, Any, Final

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import schema, throttle
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.json_io import RawParser
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import RecipientList
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.rules.request import Text
from notifications.core.store.postgres import audit
from notifications.features.audiences import expressions, snapshots, uploads
from notifications.features.audiences.rows import recipient_lists
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.upload_lines import (
    FaultKind,
    InvalidUpload,
    UploadFormat,
)

CSV: Final = "text/csv"
NDJSON: Final = "application/x-ndjson"
_PAID_BY: Final = 1_000
"""Lines that cost as much as a call."""
_WAIT: Final = dt.timedelta(seconds=10)

ListName = Annotated[Text, Field(max_length=100)]


class StreamParser(RawParser):
    """DRF parser that gives the view the stream of the body, which the view reads in pieces."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """Return the stream."""
        del media_type, parser_context
        return stream


class CsvStreamParser(StreamParser):
    """Streams `text/csv`."""

    media_type = CSV


class NdjsonStreamParser(StreamParser):
    """Streams `application/x-ndjson`."""

    media_type = NDJSON


class UploadQuery(RequestModel):
    """Parameters of an upload."""

    name: ListName = ""
    """A name for operators."""


class SnapshotRequest(RequestModel):
    """A snapshot to take."""

    audience: dict[str, Any]
    """Audience expression, such as `{"audience": "adults"}`; see `docs/audiences.md`."""
    name: ListName = ""
    """A name for operators."""


class UploadFault(ResponseModel):
    """A line without a recipient."""

    line: int
    kind: FaultKind
    detail: str


class UploadAnswer(ResponseModel):
    """An uploaded file of user ids."""

    id: int
    name: str
    state: ListState
    """Only a `ready` upload can be used in an audience."""
    state_reason: str
    lines: int
    """Lines with content, without the first line of CSV."""
    members: int
    """Recipients, each counted once."""
    duplicates: int
    """Lines that repeat a recipient; the first line of a recipient counts."""
    unknown: int
    """Lines with an unknown user id."""
    fault_counts: dict[FaultKind, int]
    """Lines without a recipient, by kind."""
    faults: list[UploadFault]
    """The first 100 lines without a recipient."""
    created_at: dt.datetime
    created_by: str
    ready_at: dt.datetime | None
    expires_at: dt.datetime
    """The upload is deleted after this time."""


class SnapshotAnswer(ResponseModel):
    """A snapshot of an audience."""

    id: int
    name: str
    state: ListState
    """Only a `ready` snapshot can be used in an audience."""
    state_reason: str
    members: int
    """Recipients so far."""
    audience: dict[str, Any] | None
    """The expression, with the expressions of saved audiences."""
    created_at: dt.datetime
    created_by: str
    ready_at: dt.datetime | None
    expires_at: dt.datetime
    """The snapshot is deleted after this time."""


class AudienceUploadListView(BaseView):
    """`/v1/audience-uploads`: list uploads, and upload a file."""

    parser_classes = (CsvStreamParser, NdjsonStreamParser)

    @extend_schema(
        operation_id="list_audience_uploads",
        summary="List uploads, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(UploadAnswer)},
        tags=["Audiences"],
    )
    def get(self, request: Request) -> Response:
        """List the uploads of the key's mode."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _rows(request, ListKind.UPLOAD), _to_upload)

    @extend_schema(
        operation_id="upload_audience",
        summary="Upload a file of user ids",
        parameters=schema.parameters(UploadQuery),
        request={CSV: OpenApiTypes.STR, NDJSON: OpenApiTypes.STR},
        responses={201: UploadAnswer},
        tags=["Audiences"],
    )
    def post(self, request: Request) -> Response:
        """Upload user ids, with variables of each recipient, as CSV or NDJSON.

        The first line of CSV names the columns, `user_id` among them; other columns are variables.
        A line of NDJSON is an object with `user_id` and variables. Wrong lines and unknown user ids
        are counted and left out. A file that breaks off is not used in part.
        """
        query = parse_query(request, UploadQuery)
        stream, by = request.data, actor_of(request)
        if not hasattr(stream, "read"):
            raise_problem(Problem(Kind.INVALID, "the file is empty", (FieldError("", "is empty"),)))
        is_json = str(request.content_type).lower().startswith(NDJSON)
        form = UploadFormat.NDJSON if is_json else UploadFormat.CSV
        upload = uploads.begin(
            mode=key_of(request).mode, kind=ListKind.UPLOAD, name=query.name, by=by
        )
        try:
            upload = uploads.load(upload, stream, form)
        except InvalidUpload as error:
            raise_problem(Problem(Kind.INVALID, str(error), (FieldError("", str(error)),)))
        except uploads.UploadsBusy as error:
            raise_problem(Problem(Kind.UNAVAILABLE, str(error), retry_after=_WAIT))
        throttle.charge_afterwards(self, request, cost=upload.lines // _PAID_BY)
        audit.record(by, "upload_audience", upload, after={"members": upload.members})
        return Response(_to_upload(upload), status=201)


class AudienceUploadDetailView(BaseView):
    """`/v1/audience-uploads/{upload_id}`: read and delete an upload."""

    @extend_schema(
        operation_id="get_audience_upload",
        summary="Read an upload",
        responses={200: UploadAnswer},
        tags=["Audiences"],
    )
    def get(self, request: Request, upload_id: int) -> Response:
        """Return the state and the counts of an upload."""
        return Response(_to_upload(_find(request, ListKind.UPLOAD, upload_id)))

    @extend_schema(
        operation_id="delete_audience_upload",
        summary="Delete an upload",
        responses={204: None},
        tags=["Audiences"],
    )
    def delete(self, request: Request, upload_id: int) -> Response:
        """Delete an upload. An audience with the upload becomes an error."""
        return _delete(request, ListKind.UPLOAD, upload_id, "delete_audience_upload")


class AudienceSnapshotListView(BaseView):
    """`/v1/audience-snapshots`: list and take snapshots."""

    @extend_schema(
        operation_id="list_audience_snapshots",
        summary="List snapshots of audiences, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(SnapshotAnswer)},
        tags=["Audiences"],
    )
    def get(self, request: Request) -> Response:
        """List the snapshots of the key's mode."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, _rows(request, ListKind.SNAPSHOT), _to_snapshot)

    @extend_schema(
        operation_id="take_audience_snapshot",
        summary="Take a snapshot of an audience",
        request=SnapshotRequest,
        responses={202: SnapshotAnswer},
        tags=["Audiences"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Store the recipients of an audience as a fixed set, in the background.

        The snapshot is used as `{"snapshot": id}` when its state is `ready`.
        """
        wanted, mode = parse_body(request.data, SnapshotRequest), key_of(request).mode
        by = actor_of(request)
        try:
            expression = expressions.check(wanted.audience, mode=mode)
            with audit.changes(by, "take_audience_snapshot") as made:
                row = snapshots.begin(expression, mode=mode, name=wanted.name, by=by)
                made.append(row)
        except ExpressionError as error:
            raise_problem(error.problem(within="/audience"))
        return Response(_to_snapshot(row), status=202)


class AudienceSnapshotDetailView(BaseView):
    """`/v1/audience-snapshots/{snapshot_id}`: read and delete a snapshot."""

    @extend_schema(
        operation_id="get_audience_snapshot",
        summary="Read a snapshot of an audience",
        responses={200: SnapshotAnswer},
        tags=["Audiences"],
    )
    def get(self, request: Request, snapshot_id: int) -> Response:
        """Return the state and the size of a snapshot."""
        return Response(_to_snapshot(_find(request, ListKind.SNAPSHOT, snapshot_id)))

    @extend_schema(
        operation_id="delete_audience_snapshot",
        summary="Delete a snapshot of an audience",
        responses={204: None},
        tags=["Audiences"],
    )
    def delete(self, request: Request, snapshot_id: int) -> Response:
        """Delete a snapshot. An audience with the snapshot becomes an error."""
        return _delete(request, ListKind.SNAPSHOT, snapshot_id, "delete_audience_snapshot")


def _rows(request: Request, kind: ListKind) -> QuerySet[RecipientList]:
    return RecipientList.objects.filter(mode=key_of(request).mode, kind=kind, deleted_at=None)


def _find(request: Request, kind: ListKind, list_id: int) -> RecipientList:
    row = _rows(request, kind).filter(pk=min(list_id, MAX_ID)).first()
    if row is None:
        raise_not_found(kind.value)
    return row


def _delete(request: Request, kind: ListKind, list_id: int, operation: str) -> Response:
    row = _find(request, kind, list_id)
    with audit.changes(actor_of(request), operation, RecipientList.objects.filter(pk=row.pk)):
        recipient_lists.delete(row.pk, now=clock.now())
    return Response(status=204)


def _to_upload(row: RecipientList) -> dict[str, Any]:
    return UploadAnswer.model_validate(row).to_json()


def _to_snapshot(row: RecipientList) -> dict[str, Any]:
    fields = {
        name: getattr(row, name) for name in SnapshotAnswer.model_fields if name != "audience"
    }
    return SnapshotAnswer(audience=row.expression, **fields).to_json()
