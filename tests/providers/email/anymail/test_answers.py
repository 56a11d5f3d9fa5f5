"""What each answer of a service means."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest

from providers import verdicts
from providers.contract import Accepted, Misconfigured, Outcome, Rejected, Throttled, Unavailable
from providers.email.anymail import answers
from providers.email.anymail.answers import TABLE
from providers.email.anymail.services import SERVICES, Path
from providers.refused_parts import RefusedPart
from providers.transport import Response

WAIT = timedelta(seconds=9)
SERVICE_CODES = [key for key in TABLE if ":" in key]
STATUSES = [key for key in TABLE if key.isdigit()]
WORDS = [key for key in TABLE if key.isalpha()]


def holding(value: str, path: Path) -> object:
    """Build the smallest document with a value at a path."""
    document: object = value
    for step in reversed(path):
        document = [document] if step == 0 else {step: document}
    return document


def judged(
    status: int, body: bytes, *, service: str = "mailgun", codes: verdicts.Table | None = None
) -> Outcome:
    reply = Response(status=status, body=body, elapsed=timedelta(0), retry_after=WAIT)
    accepted = Accepted(message_id="1")
    return answers.outcome_of(reply, service=service, codes=codes or {}, read=lambda _: accepted)


def is_as_the_table_says(outcome: Outcome, key: str) -> bool:
    expected = verdicts.outcome(TABLE[key], code=key, detail="", retry_after=WAIT)
    same_wait = getattr(outcome, "retry_after", WAIT) == WAIT
    dead = getattr(outcome, "contact_is_dead", False)
    return type(outcome) is type(expected) and same_wait and dead == TABLE[key].is_dead


@pytest.mark.parametrize("key", SERVICE_CODES)
@pytest.mark.parametrize("status", [200, 422, 500])
def test_a_code_of_the_service_counts_more_than_the_status(key: str, status: int) -> None:
    service, _, code = key.partition(":")
    for path in SERVICES[service].codes:
        outcome = judged(status, orjson.dumps(holding(code, path)), service=service)
        assert is_as_the_table_says(outcome, key)


@pytest.mark.parametrize("key", STATUSES)
def test_a_status_of_the_table_counts_more_than_what_http_says(key: str) -> None:
    assert is_as_the_table_says(judged(int(key), b""), key)


@pytest.mark.parametrize("key", WORDS)
def test_a_recipient_that_was_not_taken_has_its_outcome(key: str) -> None:
    outcome = answers.outcome_of_status(key, message_id="1", codes={})
    assert type(outcome) is Rejected
    assert is_as_the_table_says(outcome, key)


@pytest.mark.parametrize("key", ["sent", "queued", "unknown"])
def test_a_success_is_a_promise(key: str) -> None:
    outcome = answers.outcome_of_status(key, message_id="1", codes={})
    assert outcome == Accepted(message_id="1")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Accepted), (202, Accepted), (302, Rejected), (400, Rejected), (413, Rejected),
        (401, Misconfigured), (403, Misconfigured), (429, Throttled), (500, Unavailable),
        (503, Unavailable),
    ],
)  # fmt: skip
def test_what_no_row_names_goes_by_http(status: int, kind: type[Outcome]) -> None:
    assert type(judged(status, b'{"message": "..."}')) is kind


@pytest.mark.parametrize(
    ("service", "status", "said"),
    [
        ("brevo", 400, "the sender you used a@b.example is not valid."),
        ("mailgun", 404, "Domain not found: brand.example"),
        ("mailgun", 403, "Domain b.example is not allowed to send: The domain is unverified"),
        ("resend", 403, "The brand.example domain is not verified."),
        ("sendgrid", 403, "The from address does not match a verified Sender Identity."),
    ],
)
def test_a_refused_sender_is_told_from_a_refused_account(
    service: str, status: int, said: str
) -> None:
    body = orjson.dumps({"code": "invalid_parameter", "message": said})
    outcome = judged(status, body, service=service)
    assert isinstance(outcome, Misconfigured)
    assert outcome.refused_part is RefusedPart.SENDER


def test_an_operator_can_change_a_row_and_add_one() -> None:
    refused = Rejected(code="postmark:406", detail='{"ErrorCode": 406}')
    assert judged(422, b'{"ErrorCode": 406}', service="postmark", codes={}) == refused
    codes = verdicts.overrides("postmark:406=dead, mailjet:mj-0099=throttled, 402=unavailable")
    inactive = judged(422, b'{"ErrorCode": 406}', service="postmark", codes=codes)
    assert inactive == replace(refused, contact_is_dead=True)
    added = judged(400, b'{"ErrorCode": "mj-0099"}', service="mailjet", codes=codes)
    assert isinstance(added, Throttled)
    assert isinstance(judged(402, b"", codes=codes), Unavailable)


@pytest.mark.parametrize(
    "said",
    [
        "bad: Maria+Tag@mailbox.example.",
        "bad: <maria+tag@mailbox.example>",
        r"bad: maria\u002Btag@mailbox.example",
        r"bad: \"maria+tag@mailbox.example\"",
    ],
)
def test_no_detail_repeats_an_address_however_it_is_written(said: str) -> None:
    outcome = judged(400, said.encode())
    assert isinstance(outcome, Rejected)
    assert "[address]" in outcome.detail
    assert "tag" not in outcome.detail.lower()
    assert "mailbox" not in outcome.detail
