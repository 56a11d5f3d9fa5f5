"""`/v1/attachments`: upload a file for e-mails."""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.examples import Example
from notifications.core.api.json_io import RawParser, decode
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ResponseModel
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.features.attachments import fetch, invitations, limits, rows, rules
from notifications.features.attachments.invitations import InvitationRequest

_MEGABYTE: Final = 1_000_000
_INVOICE: Final = "%PDF-1.7\nInvoice 4521\n%%EOF\n"
_INVITATION: Final = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
_MEETING: Final = {
    "uid": "appointment-4521@shop.example",
    "sequence": 1,
    "start": "2026-12-01T10:00:00+01:00",
    "end": "2026-12-01T10:30:00+01:00",
    "summary": "Fitting",
    "location": "Main Street 1",
    "organizer": "Shop <events@shop.example>",
    "attendee": "maria@mailbox.example",
}
_DOCUMENTED: Final = ("application/pdf", "text/calendar")
"""Types of the examples; `rules.attachments.ENDINGS` has all permitted types."""
_WRITERS: Final = Access(Scope.NOTIFICATIONS_WRITE)


class AttachmentAnswer(ResponseModel):
    """An uploaded file."""

    id: UUID
    """For `attachments` of `POST /v1/notifications`."""
    type: str
    """Media type."""
    size: int
    """Bytes of the content."""
    sha256: str
    """Digest of the content, in hexadecimal digits."""
    kept_until: dt.datetime
    """The file is deleted after this time, unless a notification with the file is accepted
    before."""


class AttachmentView(BaseView):
    """The view of uploads, which takes files."""

    parser_classes = (RawParser,)


@operation(
    "POST v1/attachments",
    "Upload a file for e-mails",
    _WRITERS,
    answers={201: AttachmentAnswer, 200: AttachmentAnswer},
    tag="Attachments",
    raw_body={
        **dict.fromkeys(_DOCUMENTED, OpenApiTypes.BINARY),
        invitations.MEDIA_TYPE: InvitationRequest,
    },
    is_idempotent=False,
    problems={
        *(Kind.MALFORMED, Kind.TOO_LARGE, Kind.UNSUPPORTED_MEDIA_TYPE, Kind.INVALID),
        Kind.UNAVAILABLE,
    },
    base=AttachmentView,
    examples={
        "minimal": Example("A PDF file", body=_INVOICE, media_type="application/pdf"),
        "invitation": Example(
            "An invitation, which mail programs show with buttons",
            body=_INVITATION,
            media_type="text/calendar",
        ),
        "meeting": Example(
            "A change of a meeting, of which the service writes an invitation",
            body=_MEETING,
            media_type=invitations.MEDIA_TYPE,
        ),
    },
)
def upload_attachment(call: Call) -> Response:
    """Store a file, and return the id for `attachments` of `POST /v1/notifications`.

    The body is the file, and Content-Type its type: PDF, PNG, JPEG, GIF, WebP, plain text, CSV,
    JSON, calendars, vCards, Wallet passes, and the documents of office programs. The same content
    is stored once: a second upload is answered with 200 and the same id, so a call can be repeated.
    A file that no notification names is deleted after a day. An upload costs one request for each
    megabyte. A body of the type text/uri-list is the https URL of the file: the service fetches the
    file at once, within 10 seconds and without following redirects, and the Content-Type of the
    answer is the type of the file. A body of the type application/vnd.notify.invitation+json has
    the fields of a meeting, of which the service writes a file of the type text/calendar.
    """
    given: object = call.request.data  # without a body it is no bytes
    content = given if isinstance(given, bytes) else b""
    type_ = _media_type(str(call.request.content_type))
    if type_ == invitations.MEDIA_TYPE:
        asked = parse_body(decode(content), InvitationRequest)
        return _store(call, invitations.CALENDAR, invitations.write(asked, now=clock.now()))
    if type_ != fetch.URI_LIST:
        return _store(call, type_, content)
    most = limits.most_bytes(call.mode)
    found = fetch.fetch(content, most=most, producer_id=call.key.producer_id)
    if isinstance(found, Problem):
        raise_problem(found)
    type_ = _media_type(found.type)
    if rules.type_fault(type_):
        said = f"the server of the URL sends the type {type_ or 'no type'}, which no file may have"
        raise_problem(Problem(Kind.INVALID, said))
    return _store(call, type_, found.content)


def _media_type(content_type: str) -> str:
    """Return a media type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _store(call: Call, type_: str, content: bytes) -> Response:
    """Check and store a file.

    Raises:
        ProblemError: the type, the size or the content is wrong.
    """
    if not content:
        raise_problem(Problem(Kind.INVALID, "the file is empty"))
    if fault := rules.type_fault(type_):
        raise_problem(Problem(Kind.UNSUPPORTED_MEDIA_TYPE, fault))
    call.charge(len(content) // _MEGABYTE)
    if len(content) > (most := limits.most_bytes(call.mode)):
        said = f"the file has {len(content)} bytes, at most {most}: send a link to the file instead"
        raise_problem(Problem(Kind.TOO_LARGE, said))
    if fault := rules.content_fault(type_, content):
        raise_problem(Problem(Kind.INVALID, fault))
    upload = rows.store(call.key.producer_id, call.mode, type_=type_, content=content)
    answer = AttachmentAnswer(
        id=upload.file.id,
        type=upload.file.type,
        size=upload.file.size,
        sha256=upload.file.digest,
        kept_until=upload.kept_until,
    )
    return Response(answer.to_json(), status=201 if upload.is_new else 200)
