"""A meeting becomes a calendar file that keeps its values, and an update keeps its uid."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.features.attachments import invitations, rules
from notifications.features.attachments.invitations import InvitationRequest
from notifications.features.attachments.models import Attachment
from providers.email import mime
from providers.message_parts import Attachment as Part
from tests.api.conftest import Caller, _fresh_state, caller, make_caller
from tests.journey import outbox

__all__ = ["_fresh_state", "caller", "make_caller", "outbox"]

_CHARACTERS = st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t")
NOW = dt.datetime(2026, 11, 1, 8, tzinfo=dt.UTC)
MEETING = {
    "uid": "4521@shop.example",
    "start": "2026-12-01T10:00:00+01:00",
    "end": "2026-12-01T10:30:00+01:00",
    "summary": "Fitting",
    "organizer": "Shop <events@shop.example>",
    "attendee": "maria@mailbox.example",
}
Post = Callable[..., tuple[int, dict[str, object]]]


def _file(**fields: object) -> bytes:
    return invitations.write(InvitationRequest.model_validate({**MEETING, **fields}), now=NOW)


def _read(file: bytes) -> dict[str, str]:
    """Unfold the lines of a calendar; returns name -> value, with the texts unescaped."""
    assert max(len(line) for line in file.split(b"\r\n")) <= 75
    lines = file.decode().replace("\r\n ", "").split("\r\n")
    pairs = [re.split(r"(?<!mailto)[:;]", line, maxsplit=1) for line in lines if line]
    return {
        name: re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
        for name, value in pairs
    }


def test_an_invitation_has_the_fields_and_times_in_utc() -> None:
    file = _file(location="Main Street 1", description="Bring shoes", sequence=2)
    found = _read(file)
    assert (found["METHOD"], found["UID"], found["SEQUENCE"]) == ("REQUEST", MEETING["uid"], "2")
    assert (found["DTSTART"], found["DTEND"]) == ("20261201T090000Z", "20261201T093000Z")
    assert (found["DTSTAMP"], found["STATUS"]) == ("20261101T080000Z", "CONFIRMED")
    assert (found["LOCATION"], found["DESCRIPTION"]) == ("Main Street 1", "Bring shoes")
    assert found["ORGANIZER"] == 'CN="Shop":mailto:events@shop.example'
    asks = "ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE"
    assert found["ATTENDEE"] == f"{asks}:mailto:maria@mailbox.example"


@pytest.mark.parametrize("method", ["REQUEST", "CANCEL", "PUBLISH"])
def test_the_file_is_a_calendar_with_its_method(method: str) -> None:
    file = _file(method=method)
    assert rules.content_fault(invitations.CALENDAR, file) == ""
    part = Part(name="invite.ics", media_type=invitations.CALENDAR, content=file)
    assert mime.calendar_method(part) == method


def test_an_address_adds_no_header_to_the_mail_that_answers() -> None:
    file = _file(attendee="a?cc=boss&subject=x@d.example")
    assert b":mailto:a%3Fcc%3Dboss%26subject%3Dx@d.example" in file.replace(b"\r\n ", b"")


def test_a_cancellation_asks_for_no_answer() -> None:
    found = _read(_file(method="CANCEL", sequence=3))
    assert (found["STATUS"], found["SEQUENCE"]) == ("CANCELLED", "3")
    assert found["ATTENDEE"] == "ROLE=REQ-PARTICIPANT:mailto:maria@mailbox.example"


@given(text=st.text(_CHARACTERS, min_size=1, max_size=500))
def test_each_text_is_read_back_and_adds_no_line(text: str) -> None:
    found = _read(_file(summary=text, description=text))
    assert (found["SUMMARY"], found["DESCRIPTION"]) == (text, text)
    assert len(found) == len(_read(_file(description="x")))


@pytest.fixture
def post(caller: Caller) -> Post:
    def call(**fields: object) -> tuple[int, dict[str, object]]:
        answer = caller.send(
            "POST", "/v1/attachments", {**MEETING, **fields}, media_type=invitations.MEDIA_TYPE
        )
        return answer.status_code, answer.json()

    return call


@pytest.mark.django_db
@pytest.mark.usefixtures("outbox")
def test_a_meeting_is_stored_as_a_calendar(post: Post) -> None:
    status, told = post()
    assert (status, told["type"]) == (201, "text/calendar")
    [row] = Attachment.objects.all()
    assert _read(bytes(row.content))["SUMMARY"] == "Fitting"


@pytest.mark.django_db
@pytest.mark.usefixtures("outbox")
@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"end": "2026-12-01T10:00:00+01:00"}, ""),
        ({"end": "2026-12-01T10:00:00.9+01:00"}, ""),
        ({"attendee": None}, ""),
        ({"start": "0001-01-01T00:00:00+23:00"}, "/start"),
        ({"end": "9999-12-31T23:59:59-23:00"}, "/end"),
        ({"start": 1}, "/start"),
        ({"start": "2026-12-01T10:00:00"}, "/start"),
        ({"uid": "a b"}, "/uid"),
        ({"sequence": -1}, "/sequence"),
        ({"method": "REPLY"}, "/method"),
        ({"summary": "a\r\nATTENDEE:mailto:eve@example.com"}, "/summary"),
        ({"organizer": "nobody"}, "/organizer"),
        ({"organizer": "A <a@b.example>\r\nX: y"}, "/organizer"),
        ({"room": "1"}, "/room"),
    ],
)
def test_a_wrong_meeting_is_refused_at_its_place(
    post: Post, changed: dict[str, object], pointer: str
) -> None:
    status, told = post(**changed)
    assert status == 422
    assert [each["pointer"] for each in told["errors"]] == [pointer]  # type: ignore[attr-defined] # JSON
    assert not Attachment.objects.exists()
