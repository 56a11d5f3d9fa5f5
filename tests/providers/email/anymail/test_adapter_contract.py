"""The adapter against the contract, through two services whose APIs have little in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Accepted, Channel, Misconfigured, Outcome, Rejected, Unanswered
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.email.anymail.services_fake import PASSWORD, TOKEN, Mailgun, Postmark, adapter
from tests.providers.messages import message

SOON = timedelta(seconds=30)
ADDRESS = "Maria+Tag@mailbox.example"


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


@pytest.fixture(params=[Postmark, Mailgun])
def server(request: pytest.FixtureRequest) -> Iterator[Postmark | Mailgun]:
    with closing(request.param()) as it:
        yield it


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(
    check: Callable[[Subject], None], server: Postmark | Mailgun, transport: Transport
) -> None:
    check(
        Subject(
            provider=adapter(server.SERVICE, server.options, transport=transport),
            server=server,
            channel=Channel.EMAIL,
            address=ADDRESS,
            secrets=[TOKEN, PASSWORD],
        )
    )


@pytest.fixture
def postmark() -> Iterator[Postmark]:
    with closing(Postmark()) as it:
        yield it


def outcomes(
    server: Postmark | Mailgun, transport: Transport, *sent: str, **text: str
) -> list[Outcome]:
    provider = adapter(server.SERVICE, server.options, transport=transport)
    batch = [message(address, Channel.EMAIL, **text) for address in sent]
    found = {each.delivery_id: each.outcome for each in provider.send(batch, deadline=SOON)}
    return [found[each.delivery_id] for each in batch]


def test_text_and_html_reach_the_service_as_they_were_written(
    postmark: Postmark, transport: Transport
) -> None:
    text = {"title": "Pizza\r\nfertig 🍕", "body": "Grüße €\n.\n", "html": "<p>Ü</p>"}
    assert outcomes(postmark, transport, ADDRESS, **text) == [Accepted(message_id="pm-1")]
    (mail,) = postmark.mails
    assert mail["From"] == "Shop <no-reply@shop.example>"
    assert mail["To"] == ADDRESS
    assert mail["Subject"] == "Pizza fertig 🍕"
    assert mail["TextBody"] == text["body"]
    assert mail["HtmlBody"] == text["html"]


def test_html_alone_is_sent_alone(postmark: Postmark, transport: Transport) -> None:
    outcomes(postmark, transport, ADDRESS, body="", html="<p>Hi</p>")
    (mail,) = postmark.mails
    assert mail["HtmlBody"] == "<p>Hi</p>"
    assert "TextBody" not in mail


def test_a_message_that_cannot_be_sent_never_harms_its_neighbours(
    postmark: Postmark, transport: Transport
) -> None:
    no_domain, too_odd = "maria", "..maria@mailbox.example"
    first, second, good = outcomes(postmark, transport, no_domain, too_odd, ADDRESS)
    assert isinstance(first, Rejected)
    assert isinstance(second, Rejected)
    assert good == Accepted(message_id="pm-1")
    assert len(postmark.mails) == 1


def test_a_message_that_is_too_large_is_rejected_with_the_numbers(
    postmark: Postmark, transport: Transport
) -> None:
    (outcome,) = outcomes(postmark, transport, ADDRESS, html="x" * 5 * 1024 * 1024)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "payload_too_large"
    assert "at most 5242880" in outcome.detail
    assert not postmark.requests


def answered(server: Postmark | Mailgun, transport: Transport, body: bytes) -> Outcome:
    server._handle = lambda _: ServerAnswer(status=200, body=body)  # type: ignore[method-assign, assignment] # this answer only
    (outcome,) = outcomes(server, transport, ADDRESS)
    return outcome


def test_a_success_of_somebody_else_is_our_mistake(transport: Transport) -> None:
    with closing(Mailgun()) as server:
        outcome = answered(server, transport, b"Mailgun Magnificent API")
    assert isinstance(outcome, Misconfigured)


@pytest.mark.parametrize("body", [b"", b"{", b"7", b'{"ErrorCode": 0}', b"\xff"])
def test_a_success_that_cannot_be_read_leaves_us_unsure(
    postmark: Postmark, transport: Transport, body: bytes
) -> None:
    assert answered(postmark, transport, body) == Unanswered(code="unreadable")


def test_a_check_tells_whether_the_service_is_there(
    postmark: Postmark, transport: Transport
) -> None:
    provider = adapter(postmark.SERVICE, postmark.options, transport=transport)
    postmark._handle = lambda _: ServerAnswer(status=404)  # type: ignore[method-assign, assignment] # a GET of the base
    (there,) = provider.check(deadline=SOON)
    postmark.stop()
    (gone,) = provider.check(deadline=SOON)
    assert (there.is_good, gone.is_good) == (True, False)
