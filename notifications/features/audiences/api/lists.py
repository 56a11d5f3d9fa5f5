"""`/v1/audience-uploads` and `/v1/audience-snapshots`: fixed sets of recipients."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import IO, Annotated, Any, Final

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from pydantic import Field

from notifications.core import clock
from notifications.core.api import schema
from notifications.core.api.base_view import BaseView
from notifications.core.api.examples import ANOTHER_USER, USER, Example
from notifications.core.api.json_io import RawParser
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import RecipientList
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.core.rules.request import Text
from notifications.core.rules.scopes import Scope
from notifications.features.audiences import expressions, snapshots, uploads
from notifications.features.audiences.rows import recipient_lists
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.upload_lines import (
    FaultKind,
    InvalidUpload,
    UploadFormat,
)

_TOPIC: Final = {"topic": "artist-17"}
_CSV: Final = f"user_id,code\n{USER},SPRING-1\n{ANOTHER_USER},SPRING-2\n"
_JSON_LINES: Final = f'{{"user_id": "{USER}", "code": "SPRING-1"}}\n'
_UPLOAD: Final = {"upload_id": 172}
_SNAPSHOT: Final = {"snapshot_id": 173}

_READERS: Final = Access(Scope.CAMPAIGNS_READ, BOTH, "view_recipient")
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


class UploadView(BaseView):
    """The view of uploads, which takes files."""

    parser_classes = (CsvStreamParser, NdjsonStreamParser)


def _rows(kind: ListKind) -> Callable[[Call], QuerySet[RecipientList]]:
    return lambda call: RecipientList.objects.filter(mode=call.key.mode, kind=kind, deleted_at=None)


def _to_snapshot(row: RecipientList) -> SnapshotAnswer:
    names = SnapshotAnswer.model_fields.keys() - {"audience"}
    fields = {name: getattr(row, name) for name in names}
    return SnapshotAnswer(audience=row.expression, **fields)


UPLOADS: Final = Resource(
    noun=ListKind.UPLOAD.value,
    path="v1/audience-uploads/<int:upload_id>",
    rows=_rows(ListKind.UPLOAD),
    answer=UploadAnswer,
    tag="Audiences",
)
SNAPSHOTS: Final = Resource(
    noun=ListKind.SNAPSHOT.value,
    path="v1/audience-snapshots/<int:snapshot_id>",
    rows=_rows(ListKind.SNAPSHOT),
    answer=SnapshotAnswer,
    to_answer=_to_snapshot,
    tag="Audiences",
)


@UPLOADS.list(
    "List uploads, newest first",
    _READERS,
    NumberedPageQuery,
    base=UploadView,
    examples={
        "minimal": Example("The latest uploads"),
        "usual": Example("Ten uploads", query={"limit": 10}),
    },
)
def list_audience_uploads(call: Call, _query: NumberedPageQuery) -> QuerySet[RecipientList]:
    """List the uploads of the key's mode."""
    return UPLOADS.rows(call)


@operation(
    "POST v1/audience-uploads",
    "Upload a file of user ids",
    Access(Scope.CAMPAIGNS_WRITE),
    answers={201: UploadAnswer},
    tag=UPLOADS.tag,
    parameters=schema.parameters(UploadQuery),
    raw_body={CSV: OpenApiTypes.STR, NDJSON: OpenApiTypes.STR},
    is_idempotent=False,
    base=UploadView,
    examples={
        "minimal": Example(
            "A CSV file of user ids with a variable", body=_CSV, media_type="text/csv"
        ),
        "usual": Example(
            "NDJSON, with a name for operators",
            query={"name": "Spring codes"},
            body=_JSON_LINES,
            media_type="application/x-ndjson",
        ),
    },
)
def upload_audience(call: Call) -> UploadAnswer:
    """Upload user ids, with variables of each recipient, as CSV or NDJSON.

    The first line of CSV names the columns, `user_id` among them; other columns are variables.
    A line of NDJSON is an object with `user_id` and variables. Wrong lines and unknown user ids
    are counted and left out. A file that breaks off is not used in part.
    """
    query, stream = parse_query(call.request, UploadQuery), call.request.data
    if not hasattr(stream, "read"):
        raise_problem(Problem(Kind.INVALID, "the file is empty", (FieldError("", "is empty"),)))
    is_json = str(call.request.content_type).lower().startswith(NDJSON)
    form = UploadFormat.NDJSON if is_json else UploadFormat.CSV
    try:
        upload = uploads.begin_upload(
            mode=call.key.mode, name=query.name, by=call.by, producer_id=call.key.producer_id
        )
        upload = uploads.load(upload, stream, form)
    except InvalidUpload as error:
        raise_problem(Problem(Kind.INVALID, str(error), (FieldError("", str(error)),)))
    except uploads.UploadsBusy as error:
        raise_problem(Problem(Kind.UNAVAILABLE, str(error), retry_after=_WAIT))
    call.charge(upload.lines // _PAID_BY)
    return UploadAnswer.model_validate(upload)


@UPLOADS.read(
    "Read an upload",
    _READERS,
    examples={
        "minimal": Example("An upload", path=_UPLOAD),
        "usual": Example("Another upload", path={"upload_id": 175}),
    },
)
def get_audience_upload(_call: Call, upload: RecipientList) -> RecipientList:
    """Return the state and the counts of an upload."""
    return upload


@UPLOADS.change(
    "DELETE",
    "Delete an upload",
    Access(Scope.CAMPAIGNS_WRITE),
    answers={204: None},
    examples={
        "minimal": Example("Delete an upload", path=_UPLOAD),
        "usual": Example("Delete another upload", path={"upload_id": 175}),
    },
)
def delete_audience_upload(_call: Call, upload: RecipientList) -> None:
    """Delete an upload. An audience with the upload becomes an error."""
    recipient_lists.delete(upload.pk, now=clock.now())


@SNAPSHOTS.list(
    "List snapshots of audiences, newest first",
    _READERS,
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest snapshots"),
        "usual": Example("Ten snapshots", query={"limit": 10}),
    },
)
def list_audience_snapshots(call: Call, _query: NumberedPageQuery) -> QuerySet[RecipientList]:
    """List the snapshots of the key's mode."""
    return SNAPSHOTS.rows(call)


@SNAPSHOTS.create(
    "Take a snapshot of an audience",
    Access(Scope.CAMPAIGNS_WRITE),
    SnapshotRequest,
    status=202,
    examples={
        "minimal": Example("The subscribers of a topic as of now", body={"audience": _TOPIC}),
        "usual": Example(
            "A saved audience, with a name for operators",
            headers={"Idempotency-Key": "snapshot-17"},
            body={"audience": {"audience": "Customers"}, "name": "Customers on launch day"},
        ),
    },
)
def take_audience_snapshot(call: Call, wanted: SnapshotRequest) -> RecipientList:
    """Store the recipients of an audience as a fixed set, in the background.

    The snapshot is used as `{"snapshot": id}` when its state is `ready`.
    """
    try:
        expression = expressions.check(wanted.audience, mode=call.key.mode)
        return snapshots.begin(expression, mode=call.key.mode, name=wanted.name, by=call.by)
    except ExpressionError as error:
        raise_problem(error.problem(within="/audience"))


@SNAPSHOTS.read(
    "Read a snapshot of an audience",
    _READERS,
    examples={
        "minimal": Example("A snapshot", path=_SNAPSHOT),
        "usual": Example("Another snapshot", path={"snapshot_id": 176}),
    },
)
def get_audience_snapshot(_call: Call, snapshot: RecipientList) -> RecipientList:
    """Return the state and the size of a snapshot."""
    return snapshot


@SNAPSHOTS.change(
    "DELETE",
    "Delete a snapshot of an audience",
    Access(Scope.CAMPAIGNS_WRITE),
    answers={204: None},
    examples={
        "minimal": Example("Delete a snapshot", path=_SNAPSHOT),
        "usual": Example("Delete another", path={"snapshot_id": 176}),
    },
)
def delete_audience_snapshot(_call: Call, snapshot: RecipientList) -> None:
    """Delete a snapshot. An audience with the snapshot becomes an error."""
    recipient_lists.delete(snapshot.pk, now=clock.now())
