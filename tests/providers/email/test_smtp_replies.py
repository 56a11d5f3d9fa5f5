"""Replies to RCPT: about our account, or about the recipient."""

from __future__ import annotations

import pytest

from providers.contract import Misconfigured, Rejected
from providers.email.smtp_replies import Stage, outcome_of
from providers.refused_parts import RefusedPart


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (550, "relay not permitted"),
        (550, "5.7.1 <maria@mailbox.example>... Relaying denied"),
        (554, "5.7.1 <maria@mailbox.example>: Relay access denied"),
        (550, "5.7.1 Unable to relay"),
        (550, "5.7.54 SMTP; Unable to relay recipient in non-accepted domain"),
        (550, "5.7.64 TenantAttribution; Relay Access Denied"),
        (550, "5.7.60 SMTP; Client does not have permissions to send as this sender"),
        (553, "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"),
        (553, "5.7.1 <shop@shop.example>: Sender address rejected: not owned by user shop"),
        (550, "5.1.8 <shop@shop.example>: Sender address rejected: Domain not found"),
        (501, "5.1.7 bad address syntax"),
        (550, "Sender verify failed"),
    ],
)
def test_a_server_that_refuses_us_at_the_recipient_refuses_our_account(
    code: int, text: str
) -> None:
    judged = outcome_of(code, text.encode(), stage=Stage.RECIPIENT, hide="maria@mailbox.example")
    assert isinstance(judged, Misconfigured)


@pytest.mark.parametrize(
    ("code", "text", "stage"),
    [
        (553, "5.7.1 <a@shop.example>: Sender address rejected: not owned", Stage.RECIPIENT),
        (550, "5.7.60 Client does not have permissions to send as this sender", Stage.DATA),
        (553, "5.1.8 <a@shop.example> unknown domain", Stage.RECIPIENT),
        (550, "5.7.1 not yours", Stage.SENDER),
        (554, "Message rejected: Email address is not verified: a@shop.example", Stage.CONTENT),
        (
            554,
            "Email address is not verified: a@shop.example, maria@mailbox.example",
            Stage.CONTENT,
        ),
    ],
)
def test_a_refused_sender_is_told_from_a_refused_account(
    code: int, text: str, stage: Stage
) -> None:
    judged = outcome_of(code, text.encode(), stage=stage, hide="maria@mailbox.example")
    assert isinstance(judged, Misconfigured)
    assert judged.refused_part is RefusedPart.SENDER


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (550, "5.7.1 Relaying denied"),
        (503, "5.5.1 Error: authenticate first"),
        (550, "5.4.5 Daily sending limit exceeded"),
        (554, "5.7.1 Client host rejected: Access denied"),
        (521, "the server accepts no mail"),
    ],
)
def test_a_server_that_refuses_us_at_the_sender_refuses_our_account(code: int, text: str) -> None:
    judged = outcome_of(code, text.encode(), stage=Stage.SENDER)
    assert isinstance(judged, Misconfigured)
    assert judged.refused_part is RefusedPart.NONE


def test_a_recipient_that_the_sandbox_of_ses_does_not_list_is_no_fault_of_the_account() -> None:
    text = b"Message rejected: Email address is not verified: maria@mailbox.example"
    judged = outcome_of(554, text, stage=Stage.CONTENT, hide="maria@mailbox.example")
    assert isinstance(judged, Rejected)
    assert judged.refused_part is RefusedPart.SANDBOX


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("5.1.1 <maria@mailbox.example>: Recipient address rejected", True),
        ("5.1.1 undeliverable: host mx said: 550 relay not permitted", True),
        ("undeliverable address: host mx said: 554 Relay access denied", False),
        ("Callback failed. Response: 550 relaying denied", False),
        ("5.7.1 <maria@mailbox.example>: Recipient address rejected: Access denied", False),
    ],
)
def test_the_words_of_the_recipients_server_are_about_the_recipient(
    text: str, *, dead: bool
) -> None:
    judged = outcome_of(550, text.encode(), stage=Stage.RECIPIENT)
    assert isinstance(judged, Rejected)
    assert judged.contact_is_dead is dead
