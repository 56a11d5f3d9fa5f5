"""`/v1/recipient-imports`: recipients from a CSV file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, NoReturn

from drf_spectacular.types import OpenApiTypes

from notifications.core.api import schema
from notifications.core.api.authentication import permit
from notifications.core.api.base_view import BaseView
from notifications.core.api.csv_io import CSV, CsvParser
from notifications.core.api.examples import ANOTHER_USER, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.features.moving import recipient_uploads
from notifications.features.moving.export import WrongExport
from notifications.features.moving.plans import Report

_PAID_BY: Final = 100
"""Lines that cost as much as a call."""
_WAIT: Final = dt.timedelta(seconds=10)
_USUAL: Final = (
    "user_id,email,phone,locale,timezone,topics_off\n"
    f"{USER},maria@sandbox.example,+5511912345678,pt-BR,America/Sao_Paulo,email:marketing\n"
)


class RecipientImportQuery(RequestModel):
    """Parameters of an import."""

    dry_run: bool = False
    """Report, and change nothing."""
    partial: bool = False
    """Import the other lines although a line has a fault. Otherwise one fault refuses the file."""


class RecipientImportFault(ResponseModel):
    """A line, or a part of a line, that was not imported."""

    place: str
    """The line, and the column if the fault is in one."""
    detail: str


class RecipientsImported(ResponseModel):
    """The result of an import."""

    imported: int
    """New and changed recipients; with `dry_run` those that an import would create or change."""
    unchanged: int
    """Recipients that have everything in the file already."""
    left_out: int
    """Choices of an earlier import that were changed since; the later change stays."""
    not_understood: int
    """Lines, and parts of lines, with a fault."""
    faults: list[RecipientImportFault]
    """The first 100 faults."""


class CsvImportView(BaseView):
    """The view of imports, which takes files."""

    parser_classes = (CsvParser,)


@operation(
    "POST v1/recipient-imports",
    "Import recipients from a CSV file",
    Access(Scope.RECIPIENTS_WRITE, BOTH, "change_recipient"),
    answers={200: RecipientsImported},
    tag="Recipients",
    parameters=schema.parameters(RecipientImportQuery),
    raw_body={CSV: OpenApiTypes.STR},
    is_idempotent=False,
    parts={
        "contacts": Access(Scope.CONTACTS_WRITE, BOTH, "change_contact"),
        "preferences": Access(Scope.PREFERENCES_WRITE, BOTH, "change_preference"),
    },
    base=CsvImportView,
    examples={
        "minimal": Example(
            "A check of two recipients",
            query={"dry_run": True},
            body=f"user_id,locale\n{USER},de\n{ANOTHER_USER},pt-BR\n",
            media_type=CSV,
        ),
        "usual": Example("A recipient with contacts and a preference", body=_USUAL, media_type=CSV),
    },
)
def import_recipients(call: Call) -> RecipientsImported:
    """Import up to 2,000 recipients; the first line names the columns. Safe to repeat.

    Columns: `user_id`, `email`, `phone`, `locale`, `timezone`, `fcm_token`, `apns_token`,
    `expo_token`, `channels_off`, `topics_off` and `topics`; several values of one cell have spaces
    between them.
    Contacts are added, and topics and channels are switched off, never on. Sends nothing. A choice
    that an earlier import stored and that was changed since stays changed.
    """
    query, raw = parse_query(call.request, RecipientImportQuery), call.request.data
    if not isinstance(raw, bytes):
        _raise_invalid("the file is empty", ())
    try:
        for part in recipient_uploads.parts_of(raw):
            permit(call.request, part=part)
        report = recipient_uploads.run(
            raw,
            mode=call.mode,
            by=call.by,
            is_dry=query.dry_run,
            is_partial=query.partial,
        )
    except WrongExport as error:
        _raise_invalid(str(error), ())
    except recipient_uploads.ImportsBusy as error:
        raise_problem(Problem(Kind.UNAVAILABLE, str(error), retry_after=_WAIT))
    call.charge(recipient_uploads.count_records(raw) // _PAID_BY)
    if report.fault_count and not (query.partial or query.dry_run):
        _refuse(report)
    return _answer(report)


def _answer(report: Report) -> RecipientsImported:
    return RecipientsImported(
        imported=report.imported["recipients"],
        unchanged=report.unchanged["recipients"],
        left_out=report.left_out.total(),
        not_understood=report.fault_count,
        faults=[
            RecipientImportFault(place=each.place.where, detail=each.why)
            for each in report.not_understood
        ],
    )


def _refuse(report: Report) -> NoReturn:
    """Refuse a file with faults, of which nothing was imported."""
    errors = [FieldError("", f"{each.place.where}: {each.why}") for each in report.not_understood]
    said = f"{report.fault_count} faults, and nothing was imported; {errors[0].detail}"
    _raise_invalid(said, errors)


def _raise_invalid(said: str, errors: Sequence[FieldError]) -> NoReturn:
    raise_problem(Problem(Kind.INVALID, said, tuple(errors) or (FieldError("", said),)))
