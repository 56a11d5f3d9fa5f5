"""`/v1/suppressions`: addresses to which nothing is sent, for any producer.

The list is company-wide and exists in live mode only: an entry by a test key would change live
deliveries. JSON has a single entry, `text/csv` many.
"""

from __future__ import annotations

import datetime as dt
import io
from typing import Annotated, Any, Self

from django.db import transaction
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema, throttle
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.json_io import JsonParser, JsonRenderer, RawParser
from notifications.core.api.pagination import AnyOf, NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ChannelWord, RequestModel, ResponseModel
from notifications.core.models import Suppression
from notifications.core.models.suppression import LONGEST_NOTE
from notifications.core.operations import suppression_csv
from notifications.core.rules import request_faults
from notifications.core.rules.csv_reader import InvalidFile, NotText
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Text
from notifications.core.rules.request_fields import AskedChannel
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

CSV: str = "text/csv"
_PAID_BY = 100
"""Lines of a file which cost as much as a call."""

Note = Annotated[Text, Field(max_length=LONGEST_NOTE)]


class CsvParser(RawParser):
    """DRF parser for CSV: the view gets the bytes."""

    media_type = CSV


class CsvRenderer(BaseRenderer):
    """DRF renderer for `Accept: text/csv`; the view streams the file."""

    media_type = CSV
    format = "csv"
    charset = "utf-8"


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


class SuppressionListView(BaseView):
    """`/v1/suppressions`: list and create entries."""

    parser_classes = (JsonParser, CsvParser)
    renderer_classes = (JsonRenderer, CsvRenderer)

    @extend_schema(
        operation_id="list_suppressions",
        summary="List suppressed addresses, newest first",
        parameters=schema.parameters(SuppressionQuery),
        responses={
            (200, "application/json"): schema.page_of(SuppressionAnswer),
            (200, CSV): OpenApiTypes.STR,
        },
        tags=["Recipients"],
    )
    def get(self, request: Request) -> HttpResponseBase:
        """List the entries of the suppression list.

        With `Accept: text/csv` the response is a file of all matching entries; `limit` and `cursor`
        do not apply.
        """
        query = parse_query(request, SuppressionQuery)
        found = _queryset(query)
        if request.accepted_renderer.media_type == CSV:
            lines = suppression_csv.export_lines(found)
            return StreamingHttpResponse(lines, content_type=f"{CSV}; charset=utf-8")
        return newest_page(request, query, found, _to_answer)

    @extend_schema(
        operation_id="suppress",
        summary="Suppress an address, or import a file of addresses",
        request={"application/json": SuppressionRequest, CSV: OpenApiTypes.STR},
        responses={200: SuppressionsImported, 201: SuppressionAnswer},
        tags=["Recipients"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Suppress an address, or import a file of addresses.

        JSON gets 201 with the new or existing entry. A `text/csv` file gets 200 with counts.
        """
        raw: object = request.data
        if isinstance(raw, bytes):
            throttle.charge_afterwards(self, request, cost=raw.count(b"\n") // _PAID_BY)
            return Response(_import_file(raw, by=actor_of(request)).to_json())
        wanted = parse_body(raw, SuppressionRequest)
        entry = SuppressionEntry(
            channel=wanted.channel, address=wanted.address, cause=Cause.MANUAL, note=wanted.note
        )
        actor = actor_of(request)
        with audit.changes(
            actor, "suppress", suppressions.of_address(wanted.channel, wanted.address)
        ):
            suppressions.add([entry], by=actor)
        row = suppressions.active(wanted.channel, wanted.address, cause=Cause.MANUAL)
        return Response(SuppressionAnswer.model_validate(row).to_json(), status=201)


class SuppressionDetailView(BaseView):
    """`/v1/suppressions/{suppression_id}`: read and remove an entry."""

    @extend_schema(
        operation_id="get_suppression",
        summary="Read an entry of the suppression list",
        responses={200: SuppressionAnswer},
        tags=["Recipients"],
    )
    def get(self, request: Request, suppression_id: int) -> Response:  # noqa: ARG002 - DRF's signature
        """Return an entry of the suppression list. Removed entries stay readable."""
        row = Suppression.objects.filter(pk=min(suppression_id, MAX_ID)).first()
        if row is None:
            raise_not_found("suppression")
        return Response(SuppressionAnswer.model_validate(row).to_json())

    @extend_schema(
        operation_id="undo_suppression",
        summary="Remove an entry of the suppression list",
        parameters=schema.parameters(UndoQuery),
        responses={204: None},
        tags=["Recipients"],
    )
    def delete(self, request: Request, suppression_id: int) -> Response:
        """Remove an entry.

        The row stays and records the actor. Entries with another reason for the same address stay
        active.

        A producer can remove bounces and entries made by the same producer. Entries caused by the
        person (STOP, complaint, unsubscription) can be removed by the person, or by an operator in
        the admin.
        """
        query = parse_query(request, UndoQuery)
        rows = Suppression.objects.filter(pk=min(suppression_id, MAX_ID))
        row = rows.filter(undone_at=None).first()
        if row is None:
            raise_not_found("suppression in force")
        if why := _why_protected(row, key_of(request)):
            raise_problem(Problem(Kind.FORBIDDEN, why))
        actor = actor_of(request)
        with audit.changes(actor, "undo_suppression", rows):
            undone = suppressions.undo(rows, by=actor, note=query.note)
        if not undone:
            raise_not_found("suppression in force")
        return Response(status=204)


def _to_answer(row: Suppression) -> dict[str, Any]:
    return SuppressionAnswer.model_validate(row).to_json()


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
