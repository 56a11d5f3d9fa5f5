"""Invitations: a calendar file (RFC 5545) from the fields of a meeting.

A meeting keeps its `uid`. A change has the same `uid` and a higher `sequence`, and a cancellation
has the method CANCEL too: mail programs then change the entry of the calendar (RFC 5546, 2.1.4).
Times are written in UTC, so the file needs no description of a timezone.

The library `icalendar` (BSD, maintained) would add a dependency for one component with ten lines of
text: this module writes invitations and reads none.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from email.headerregistry import Address
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, Field, model_validator

from notifications.core.api.schemas import RequestModel
from notifications.core.rules.request import Instant
from providers import mailboxes
from providers.email import mime

MEDIA_TYPE: Final = "application/vnd.notify.invitation+json"
"""Type of a body with the fields of a meeting in place of a file."""
CALENDAR: Final = "text/calendar"
_LINE_OCTETS: Final = 75
"""Longest line without its end (RFC 5545, 3.1)."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MOST_SEQUENCE: Final = 2**31 - 1


def _mailbox(text: str) -> str:
    """Check a mailbox, such as `Shop <events@shop.example>`.

    Raises:
        ValueError: the text is no mailbox.
    """
    try:
        mime.mailbox(text)
    except (mailboxes.MalformedAddress, ValueError) as error:
        raise ValueError(str(error)) from None
    return text


def _printable(text: str) -> str:
    """Refuse control characters; the texts of a meeting have lines, and a uid has none.

    Raises:
        ValueError: the text has a control character.
    """
    if _CONTROL.search(text):
        msg = "must have no control characters but line feeds and tabs"
        raise ValueError(msg)
    return text


Mailbox = Annotated[str, Field(max_length=320), AfterValidator(_mailbox)]
_ShortText = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_printable)]
_LongText = Annotated[str, Field(min_length=1, max_length=5_000), AfterValidator(_printable)]


class InvitationRequest(RequestModel):
    """A meeting, of which the service writes a calendar file."""

    method: Literal["REQUEST", "CANCEL", "PUBLISH"] = "REQUEST"
    """REQUEST invites, or changes an invitation; CANCEL cancels; PUBLISH needs no answer."""
    uid: Annotated[str, Field(max_length=255, pattern=r"^[\x21-\x7e]+$")]
    """The same for all changes of a meeting, and for no other meeting."""
    sequence: Annotated[int, Field(ge=0, le=_MOST_SEQUENCE)] = 0
    """Number of the change: each change and the cancellation have a higher number."""
    start: Instant
    """Begin, with an offset from UTC."""
    end: Instant
    """End, with an offset from UTC."""
    summary: _ShortText
    """Title in the calendar."""
    location: _ShortText | None = None
    """Place."""
    description: _LongText | None = None
    """Text."""
    organizer: Mailbox
    """Mailbox that gets the answers, such as `Shop <events@shop.example>`."""
    attendee: Mailbox | None = None
    """Mailbox of the recipient; REQUEST and CANCEL need it."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.end.replace(microsecond=0) <= self.start.replace(microsecond=0):
            msg = "end must be after start"
            raise ValueError(msg)
        if self.method != "PUBLISH" and self.attendee is None:
            msg = f"attendee is missing: the method {self.method} needs the recipient's mailbox"
            raise ValueError(msg)
        return self


def write(asked: InvitationRequest, *, now: dt.datetime) -> bytes:
    """Return the calendar file of a meeting, made at the time `now`."""
    lines = [
        *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Notifications//EN", "CALSCALE:GREGORIAN"),
        f"METHOD:{asked.method}",
        "BEGIN:VEVENT",
        f"UID:{_text(asked.uid)}",
        f"SEQUENCE:{asked.sequence}",
        f"DTSTAMP:{_time(now)}",
        f"DTSTART:{_time(asked.start)}",
        f"DTEND:{_time(asked.end)}",
        f"SUMMARY:{_text(asked.summary)}",
        *_optional("LOCATION", asked.location),
        *_optional("DESCRIPTION", asked.description),
        f"STATUS:{'CANCELLED' if asked.method == 'CANCEL' else 'CONFIRMED'}",
        f"ORGANIZER{_person(asked.organizer)}",
        *([] if asked.attendee is None else [f"ATTENDEE{_role(asked)}{_person(asked.attendee)}"]),
        *("END:VEVENT", "END:VCALENDAR"),
    ]
    return b"".join(_fold(line) for line in lines)


def _optional(name: str, value: str | None) -> list[str]:
    return [f"{name}:{_text(value)}"] if value else []


def _role(asked: InvitationRequest) -> str:
    """Return the parameters that ask an attendee for an answer."""
    asks = asked.method == "REQUEST"
    return ";ROLE=REQ-PARTICIPANT" + (";PARTSTAT=NEEDS-ACTION;RSVP=TRUE" if asks else "")


def _person(text: str) -> str:
    """Return name and address of a mailbox; a quote of a name is left out (RFC 5545, 3.2)."""
    mailbox: Address = mime.mailbox(text)
    name = mailbox.display_name.replace('"', "")
    return (f';CN="{name}"' if name else "") + f":mailto:{quote(mailbox.addr_spec, safe='@')}"


def _time(at: dt.datetime) -> str:
    return at.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")


def _text(value: str) -> str:
    """Escape a text (RFC 5545, 3.3.11)."""
    for character in "\\;,":
        value = value.replace(character, f"\\{character}")
    return value.replace("\n", "\\n")


def _fold(line: str) -> bytes:
    """Return a line with its end, divided between characters into lines of 75 octets at most."""
    return b"\r\n ".join(_pieces(line)) + b"\r\n"


def _pieces(line: str) -> Iterator[bytes]:
    piece, room = b"", _LINE_OCTETS
    for character in line:
        octets = character.encode()
        if len(piece) + len(octets) > room:
            yield piece
            piece, room = b"", _LINE_OCTETS - 1  # a space begins the following lines
        piece += octets
    yield piece
