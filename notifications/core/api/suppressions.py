"""`/v1/suppressions`: addresses to which nothing is sent, for any producer.

The list is company-wide and exists in live mode only: an entry by a test key would change live
deliveries. JSON has a single entry, `text/csv` many.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
from typing import Annotated, Final, Self

from django.db import transaction
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from pydantic import Field, model_validator
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.base_view import parse_body, raise_not_found
from notifications.core.api.csv_io import CSV, CsvParser, CsvView
from notifications.core.api.examples import Example
from notifications.core.api.json_io import JsonParser
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import AnyOf, NumberedPageQuery, newest_page
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import ChannelWord, RequestModel, ResponseModel
from notifications.core.models import Suppression
from notifications.core.models.suppression import LONGEST_NOTE
from notifications.core.operations import suppression_csv
from notifications.core.rules import request_faults
from notifications.core.rules.access import LIVE
from notifications.core.rules.csv_reader import InvalidFile, NotText
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.scopes import Scope
from notifications.core.rules.suppression import (
    BY_PERSON,
    BY_PRODUCER,
    LONGEST_ADDRESS,
    Cause,
    address_fault,
)
from notifications.core.store.postgres import audit, suppressions
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.postgres.suppressions import SuppressionEntry

_PAID_BY = 100
"""Lines of a file which cost as much as a call."""

Note = Annotated[Text, Field(max_length=LONGEST_NOTE)]


class SuppressionQuery(NumberedPageQuery):
    """Filters of the suppression list. The default is the active entries."""

    channel: AnyOf[ChannelWord] = Field(default_factory=list)
    """Entries of any of these channels."""
    address: Annotated[Text, Field(max_length=LONGEST_ADDRESS)] | None = None
    """Entries of this address, in any spelling. Requires exactly one `channel`."""
    reason: AnyOf[Cause] = Field(default_factory=list)
    """Entries with any of these reasons."""
    undone: bool = False
    """`true` lists removed entries instead of active entries."""

    @model_validator(mode="after")
    def _needs_channel(self) -> Self:
        if self.address is not None and len(self.channel) != 1:
            said = "exactly one channel is required together with address"
            raise request_faults.error_at(said, "channel")
        return self


class UndoQuery(RequestModel):
    """The reason for a removal."""

    note: Note = ""
    """The reason, shown to operators beside the entry."""


class SuppressionRequest(RequestModel):
    """An address to suppress."""

    channel: AskedChannel
    address: Annotated[Text, Field(max_length=LONGEST_ADDRESS)]
    note: Note = ""

    @model_validator(mode="after")
    def _is_an_address(self) -> Self:
        if fault := address_fault(self.channel, self.address):
            raise request_faults.error_at(fault, "address")
        return self


class SuppressionAnswer(ResponseModel):
    """An entry of the suppression list."""

    id: int
    channel: ChannelWord
    address: str
    reason: Cause
    provider: str
    note: str
    created_at: dt.datetime
    created_by: str
    undone_at: dt.datetime | None
    undone_by: str
    undo_note: str


class RefusedLine(ResponseModel):
    """A rejected line of a file."""

    line: int
    detail: str


class SuppressionsImported(ResponseModel):
    """The result of an import."""

    added: int
    known: int
    """Lines already on the list, or repeated in the file."""
    refused: int
    faults: list[RefusedLine]
    """The first 100 rejected lines."""


class ListView(CsvView):
    """The view of the list, which takes and answers CSV too."""

    parser_classes = (JsonParser, CsvParser)


ENTRIES: Final = Resource(
    noun="suppression",
    path="v1/suppressions/<int:suppression_id>",
    rows=lambda _call: Suppression.objects.all(),
    answer=SuppressionAnswer,
    tag="Recipients",
)
IN_FORCE: Final = dataclasses.replace(
    ENTRIES,
    noun="suppression in force",
    rows=lambda _call: Suppression.objects.filter(undone_at=None),
)


@operation(
    "GET v1/suppressions",
    "List suppressed addresses, newest first",
    Access(Scope.SUPPRESSIONS_READ, LIVE, "view_suppression"),
    SuppressionQuery,
    answers={
        (200, "application/json"): schema.page_of(SuppressionAnswer),
        (200, CSV): OpenApiTypes.STR,
    },
    tag=ENTRIES.tag,
    base=ListView,
    examples={
        "minimal": Example("The latest active entries"),
        "usual": Example(
            "Whether one address is suppressed",
            query={"channel": "email", "address": "gone@example.com"},
        ),
        "file": Example("All entries as a file", headers={"Accept": "text/csv"}),
    },
)
def list_suppressions(call: Call, query: SuppressionQuery) -> HttpResponseBase:
    """List the entries of the suppression list.

    With `Accept: text/csv` the response is a file of all matching entries; `limit` and `cursor`
    do not apply.
    """
    found = _queryset(query)
    if call.request.accepted_renderer.media_type == CSV:
        lines = suppression_csv.export_lines(found)
        return StreamingHttpResponse(lines, content_type=f"{CSV}; charset=utf-8")
    return newest_page(
        call.request, query, found, lambda row: SuppressionAnswer.model_validate(row).to_json()
    )


@operation(
    "POST v1/suppressions",
    "Suppress an address, or import a file of addresses",
    Access(Scope.SUPPRESSIONS_WRITE, LIVE, "add_suppression"),
    answers={200: SuppressionsImported, 201: SuppressionAnswer},
    tag=ENTRIES.tag,
    raw_body={"application/json": SuppressionRequest, CSV: OpenApiTypes.STR},
    base=ListView,
    examples={
        "minimal": Example(
            "One mailbox",
            status=201,
            body={"channel": "email", "address": "former@example.com"},
        ),
        "usual": Example(
            "One number with a note and an idempotency key",
            status=201,
            headers={"Idempotency-Key": "suppress-1"},
            body={"channel": "sms", "address": "+5511912345678", "note": "asked by phone"},
        ),
        "file": Example(
            "A file of addresses",
            body="channel,address,note\nemail,a@example.com,moved\nsms,+5511900000001,wrong\n",
            media_type="text/csv",
        ),
    },
)
def suppress(call: Call) -> SuppressionsImported | Response:
    """Suppress an address, or import a file of addresses.

    JSON gets 201 with the new or existing entry. A `text/csv` file gets 200 with counts.
    """
    raw: object = call.request.data
    if isinstance(raw, bytes):
        call.charge(raw.count(b"\n") // _PAID_BY)
        return _import_file(raw, by=call.by)
    wanted = parse_body(raw, SuppressionRequest)
    entry = SuppressionEntry(
        channel=wanted.channel, address=wanted.address, cause=Cause.MANUAL, note=wanted.note
    )
    with call.changes(suppressions.of_address(wanted.channel, wanted.address)):
        row = suppressions.enter(entry, by=call.by)
    return Response(SuppressionAnswer.model_validate(row).to_json(), status=201)


@ENTRIES.read(
    "Read an entry of the suppression list",
    Access(Scope.SUPPRESSIONS_READ, LIVE, "view_suppression"),
    examples={
        "minimal": Example("An active entry", path={"suppression_id": 61}),
        "undone": Example("A removed entry", path={"suppression_id": 62}),
    },
)
def get_suppression(_call: Call, entry: Suppression) -> Suppression:
    """Return an entry of the suppression list. Removed entries stay readable."""
    return entry


@IN_FORCE.change(
    "DELETE",
    "Remove an entry of the suppression list",
    Access(Scope.SUPPRESSIONS_WRITE, LIVE, "change_suppression"),
    UndoQuery,
    answers={204: None},
    examples={
        "minimal": Example("Remove an entry", path={"suppression_id": 61}),
        "usual": Example(
            "Remove an entry, with a reason",
            path={"suppression_id": 61},
            query={"note": "new owner of the number"},
        ),
    },
)
def undo_suppression(call: Call, entry: Suppression, query: UndoQuery) -> None:
    """Remove an entry.

    The row stays and records the actor. Entries with another reason for the same address stay
    active.

    A producer can remove bounces and entries made by the same producer. Entries caused by the
    person (STOP, complaint, unsubscription) can be removed by the person, or by an operator in
    the admin.
    """
    if why := _why_protected(entry, call.key):
        raise_problem(Problem(Kind.FORBIDDEN, why))
    rows = Suppression.objects.filter(pk=entry.pk)
    if not suppressions.undo(rows, by=call.by, note=query.note):
        raise_not_found(IN_FORCE.noun)


def _queryset(query: SuppressionQuery) -> QuerySet[Suppression]:
    found = Suppression.objects.filter(undone_at__isnull=not query.undone).order_by("-pk")
    if query.address is not None:
        [channel] = query.channel
        found &= suppressions.of_address(channel, query.address)
    elif query.channel:
        found = found.filter(channel__in=query.channel)
    return found.filter(reason__in=query.reason) if query.reason else found


def _import_file(raw: bytes, *, by: str) -> SuppressionsImported:
    try:
        with transaction.atomic():
            done = suppression_csv.import_file(io.BytesIO(raw), by=by)
            counted = {"added": done.added, "known": done.known, "refused": done.refused}
            audit.record(by, "import_suppressions", Suppression(), after=counted)
    except NotText as error:
        raise_problem(Problem(Kind.MALFORMED, str(error)))
    except InvalidFile as error:
        raise_problem(Problem(Kind.INVALID, str(error), (FieldError("", str(error)),)))
    return SuppressionsImported.model_validate(done)


def _why_protected(row: Suppression, key: KnownKey) -> str:
    """Return the reason for which a key may not remove an entry; empty if the key may."""
    if row.reason in BY_PERSON:
        return "made by the person: only the person, or an operator in the admin, can undo it"
    if row.reason in BY_PRODUCER and not suppressions.was_made_by(row, key.producer_id):
        return "made by another caller: only that caller, or an operator in the admin, can undo it"
    return ""
