"""Each code of SES and what it means, told by its own service model."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from providers import verdicts
from providers.aws import faults
from providers.contract import Accepted, Misconfigured, Outcome, Rejected, Throttled, Unavailable
from providers.email import ses
from providers.email.ses import Ses
from providers.mail_headers import MailHeaders
from providers.refused_parts import RefusedPart
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake, SesSpeaker, json_answer, model
from tests.providers.email.ses.world import made, mails, outcomes

LOCAL = {ses.NOT_VERIFIED, ses.RECIPIENT_NOT_VERIFIED}
"""Codes that only the message of an answer tells apart."""
BULK_STATUSES = frozenset(code for code in ses.TABLE if code.isupper()) - LOCAL


@pytest.mark.parametrize("code", sorted(ses.TABLE.keys() - BULK_STATUSES - LOCAL))
def test_each_code_of_a_call_means_what_the_table_says(
    server: AwsFake, provider: Ses, code: str
) -> None:
    server.answer = lambda _request: SesSpeaker.error(code)
    expected = verdicts.outcome(ses.TABLE[code], code=code, detail="why")
    assert outcomes(provider, mails(1)) == [expected]


@pytest.mark.parametrize("code", sorted(BULK_STATUSES))
def test_each_status_of_an_entry_means_what_the_table_says(
    server: AwsFake, provider: Ses, code: str
) -> None:
    lines = [{"Status": "SUCCESS", "MessageId": "m"}, {"Status": code, "Error": "why"}]
    server.answer = lambda _request: json_answer({"BulkEmailEntryResults": lines})
    wait = ses.WAITS.get(code)
    expected = verdicts.outcome(ses.TABLE[code], code=code, detail="why", retry_after=wait)
    assert outcomes(provider, mails(2)) == [Accepted(message_id="m"), expected]


def test_the_tables_rows_are_all_of_the_models_codes() -> None:
    sesv2 = model("sesv2")
    named = {
        shape.name
        for operation in ("SendEmail", "SendBulkEmail")
        for shape in sesv2.operation_model(operation).error_shapes
    }
    statuses = set(sesv2.shape_for("BulkEmailStatus").enum) - {"SUCCESS"}
    assert named | statuses | LOCAL == ses.TABLE.keys() - faults.COMMON.keys()


UNVERIFIED = (
    "Email address is not verified. The following identities failed the check in region EU-WEST-1:"
)


@pytest.mark.parametrize(
    ("code", "said", "expected"),
    [
        (
            "LimitExceededException",
            "Daily message quota exceeded.",
            Throttled(
                code=ses.DAILY_QUOTA,
                detail="Daily message quota exceeded.",
                retry_after=timedelta(hours=1),
            ),
        ),
        (
            "Throttling",
            "Maximum sending rate exceeded.",
            Throttled(code="Throttling", detail="Maximum sending rate exceeded."),
        ),
        (
            "MessageRejected",
            f"{UNVERIFIED} no-reply@SHOP.example",
            Misconfigured(
                code=ses.NOT_VERIFIED,
                detail=f"{UNVERIFIED} [address]",
                refused_part=RefusedPart.SENDER,
            ),
        ),
        (
            "MessageRejected",
            f"{UNVERIFIED} p0@mailbox.example",
            Rejected(
                code=ses.RECIPIENT_NOT_VERIFIED,
                detail=f"{UNVERIFIED} [address]",
                another_provider_may_accept=True,
                refused_part=RefusedPart.SANDBOX,
            ),
        ),
        (
            "MessageRejected",
            f"{UNVERIFIED} not-no-reply@shop.example",  # ends with the sender's address
            Rejected(
                code=ses.RECIPIENT_NOT_VERIFIED,
                detail=f"{UNVERIFIED} [address]",
                another_provider_may_accept=True,
                refused_part=RefusedPart.SANDBOX,
            ),
        ),
        ("NewException", "why", Rejected(code="NewException", detail="why")),
    ],
)
def test_what_only_the_message_tells_apart(
    server: AwsFake, provider: Ses, code: str, said: str, expected: Outcome
) -> None:
    server.answer = lambda _request: SesSpeaker.error(code, message=said)
    assert outcomes(provider, mails(1)) == [expected]


def test_an_unverified_sender_of_a_brand_is_told_from_a_recipient_of_the_sandbox(
    server: AwsFake, provider: Ses
) -> None:
    said = f"{UNVERIFIED} News <news@brand.example>"
    server.answer = lambda _request: SesSpeaker.error("MessageRejected", message=said)
    own = MailHeaders(sender_address="news@brand.example")
    (outcome,) = outcomes(provider, [replace(each, mail=own) for each in mails(1)])
    assert isinstance(outcome, Misconfigured)
    assert outcome.refused_part is RefusedPart.SENDER


def test_an_unknown_code_goes_by_its_http_status(server: AwsFake, provider: Ses) -> None:
    server.answer = lambda _request: SesSpeaker.error("NewException", status=500)
    assert outcomes(provider, mails(1)) == [Unavailable(code="NewException", detail="why")]


def test_an_unknown_status_of_an_entry_is_a_rejection(server: AwsFake, provider: Ses) -> None:
    lines = [{"Status": "NEW", "Error": None}, {"Status": "SUCCESS", "MessageId": None}]
    server.answer = lambda _request: json_answer({"BulkEmailEntryResults": lines})
    assert outcomes(provider, mails(2)) == [Rejected(code="NEW"), Accepted()]


def test_an_operator_changes_a_line(server: AwsFake, transport: Transport) -> None:
    provider = made(server, transport, codes=verdicts.overrides("MessageRejected=dead"))
    server.answer = lambda _request: SesSpeaker.error("MessageRejected")
    (outcome,) = outcomes(provider, mails(1))
    assert outcome == Rejected(code="MessageRejected", detail="why", contact_is_dead=True)
