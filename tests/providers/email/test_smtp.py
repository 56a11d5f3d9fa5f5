"""What leaves for a mail server, and what its replies mean."""

from __future__ import annotations

import asyncio
import email
import email.policy
import os
import signal
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from threading import Event, Thread, Timer
from time import monotonic
from uuid import uuid4

import pytest
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as SmtpSession

from providers.contract import (
    Accepted,
    Message,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.email.mime import mailbox
from providers.email.smtp import Config, Smtp, server_url
from providers.email.smtp_client import Tls
from providers.email.smtp_delivery import Delivery
from providers.email.smtp_replies import Stage, outcome_of
from tests.providers.fakes import SmtpFake
from tests.providers.messages import message, noon

SENDER = "Pizza Ärger <no-reply@shop.example>"
SOON = timedelta(seconds=30)


@pytest.fixture
def server() -> Iterator[SmtpFake]:
    with closing(SmtpFake()) as it:
        yield it


@pytest.fixture
def smtp(server: SmtpFake) -> Iterator[Smtp]:
    with closing(adapter(server.port)) as it:
        yield it


def adapter(port: int, *, connections: int = 4) -> Smtp:
    url = server_url(f"smtp://127.0.0.1:{port}")
    return Smtp(Config(url=url, from_=mailbox(SENDER), connections=connections), now=noon)


def outcome(
    smtp: Smtp,
    address: str = "maria@mailbox.example",
    *,
    title: str = "",
    body: str = "",
    html: str = "",
) -> Outcome:
    sent = message(address, title=title, body=body, html=html)
    (result,) = smtp.send([sent], deadline=SOON)
    return result.outcome


def read(server: SmtpFake) -> EmailMessage:
    mail = email.message_from_bytes(server.contents[-1], policy=email.policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


def part(mail: EmailMessage, subtype: str) -> str:
    found = mail.get_body((subtype,))
    assert isinstance(found, EmailMessage)
    return str(found.get_content()).replace("\r\n", "\n")


def test_text_and_html_arrive_as_they_were_written(server: SmtpFake, smtp: Smtp) -> None:
    text = "Grüße € 😀\n.\n..two dots\nend without newline"
    sent = message("maria@mailbox.example", title="Pizza fertig 🍕", body=text, html="<p>Ü</p>")
    list(smtp.send([sent], deadline=SOON))
    mail = read(server)
    assert mail["Subject"] == "Pizza fertig 🍕"
    assert mail["From"] == SENDER
    assert mail["To"] == "maria@mailbox.example"
    assert mail["Message-ID"] == f"<{sent.delivery_id}@shop.example>"
    assert mail["Date"].datetime == noon()
    assert part(mail, "plain") == text + "\n"
    assert part(mail, "html") == "<p>Ü</p>\n"
    assert server.contents[-1].isascii()


def test_a_mail_begins_with_its_content(server: SmtpFake, smtp: Smtp) -> None:
    contents: list[int] = []
    mail = replace(
        message("maria@mailbox.example"), on_begin=lambda: contents.append(len(server.contents))
    )
    refused = replace(message("no mailbox"), on_begin=lambda: contents.append(-1))
    assert len(list(smtp.send([mail, refused], deadline=SOON))) == 2
    assert contents == [0]


def test_html_alone_is_sent_alone(server: SmtpFake, smtp: Smtp) -> None:
    assert isinstance(outcome(smtp, body="", html="<p>Hi</p>"), Accepted)
    assert read(server).get_content_type() == "text/html"


def test_a_title_cannot_add_a_header(server: SmtpFake, smtp: Smtp) -> None:
    outcome(smtp, title="Hi\r\nBcc: eve@evil.example\r\n\r\nbody")
    mail = read(server)
    assert mail["Bcc"] is None
    assert mail["Subject"] == "Hi Bcc: eve@evil.example body"


@pytest.mark.parametrize(
    "address",
    [
        "", "maria", "@mailbox.example", "maria@", "a@b@c", "maria@mailbox.example\r\nDATA",
        "<maria@mailbox.example>", "a,b@mailbox.example", "maria @mailbox.example",
        "märia@mailbox.example", "maria@" + "a" * 64 + ".example", "maria@a..b",
    ],
)  # fmt: skip
def test_an_address_that_is_none_never_reaches_the_server(
    server: SmtpFake, smtp: Smtp, address: str
) -> None:
    assert isinstance(outcome(smtp, address), Rejected)
    assert not server.senders


def test_a_domain_in_another_script_is_written_in_ascii(server: SmtpFake, smtp: Smtp) -> None:
    assert isinstance(outcome(smtp, "maria@bücher.example"), Accepted)
    assert read(server)["To"] == "maria@xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("code", "text", "stage", "expected"),
    [
        (421, "4.3.2 closing", Stage.SENDER, Unavailable),
        (450, "greylisted", Stage.RECIPIENT, Unavailable),
        (451, "4.7.1 greylisted", Stage.RECIPIENT, Unavailable),
        (452, "4.2.2 mailbox full", Stage.RECIPIENT, Unavailable),
        (454, "4.7.0 TLS not available", Stage.CONNECT, Unavailable),
        (454, "Throttling failure: Maximum sending rate exceeded.", Stage.DATA, Throttled),
        (421, "4.7.28 unusual rate of mail", Stage.DATA, Throttled),
        (530, "5.7.0 authentication required", Stage.SENDER, Misconfigured),
        (534, "5.7.9 mechanism too weak", Stage.CONNECT, Misconfigured),
        (535, "5.7.8 bad credentials", Stage.CONNECT, Misconfigured),
        (538, "5.7.11 encryption required", Stage.CONNECT, Misconfigured),
        (554, "no SMTP service here", Stage.CONNECT, Misconfigured),
        (550, "5.7.1 sender not allowed", Stage.SENDER, Misconfigured),
        (552, "5.2.2 mailbox full", Stage.RECIPIENT, Unavailable),
        (552, "5.3.4 too big", Stage.SENDER, Rejected),
        (552, "size limit", Stage.SENDER, Rejected),
        (550, "5.3.4 too big", Stage.DATA, Rejected),
        (550, "no details", Stage.RECIPIENT, Rejected),
        (554, "5.7.1 policy", Stage.DATA, Rejected),
        (299, "what?", Stage.DATA, Unavailable),
        (451, "4.3.0 later", Stage.CONTENT, Unavailable),
        (550, "5.7.1 spam", Stage.CONTENT, Rejected),
        (354, "go on", Stage.CONTENT, Unanswered),
        (-1, "GARBAGE", Stage.CONTENT, Unanswered),
    ],
)
def test_each_reply_has_its_outcome(
    code: int, text: str, stage: Stage, expected: type[Outcome]
) -> None:
    judged = outcome_of(code, text.encode(), stage=stage)
    assert type(judged) is expected
    assert not getattr(judged, "contact_is_dead", False)


@pytest.mark.parametrize(
    ("code", "text", "stage", "may_accept"),
    [
        (550, "5.7.1 blocked", Stage.RECIPIENT, True),
        (554, "5.7.26 unauthenticated", Stage.CONTENT, True),
        (554, "spam", Stage.CONTENT, True),
        (550, "5.1.1 no such user", Stage.RECIPIENT, False),
        (550, "no such user", Stage.RECIPIENT, False),
        (552, "5.3.4 too big", Stage.CONTENT, False),
        (552, "size limit", Stage.CONTENT, False),
    ],
)
def test_policy_of_one_relay_is_not_that_of_another(
    code: int, text: str, stage: Stage, *, may_accept: bool
) -> None:
    judged = outcome_of(code, text.encode(), stage=stage)
    assert isinstance(judged, Rejected)
    assert judged.another_provider_may_accept is may_accept


@pytest.mark.parametrize("enhanced", ["5.1.1", "5.1.2", "5.1.6", "5.1.10", "5.2.1"])
def test_a_mailbox_that_is_gone_is_dead_only_when_the_recipient_was_refused(enhanced: str) -> None:
    text = f"{enhanced} <maria@mailbox.example> is gone".encode()
    gone = outcome_of(550, text, stage=Stage.RECIPIENT, hide="maria@mailbox.example")
    assert gone == Rejected(
        code=f"550 {enhanced}", detail=f"{enhanced} <[address]> is gone", contact_is_dead=True
    )
    later = outcome_of(550, text, stage=Stage.DATA)
    assert isinstance(later, Rejected)
    assert not later.contact_is_dead


def test_connections_are_kept_and_shared(server: SmtpFake) -> None:
    with closing(adapter(server.port, connections=2)) as smtp:
        for _ in range(3):
            batch = [message("maria@mailbox.example") for _ in range(20)]
            assert len(list(smtp.send(batch, deadline=SOON))) == 20
    assert len(server.contents) == 60
    assert 1 <= server.connections <= 2


def test_no_more_calls_begin_than_there_are_connections() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        closing(adapter(silent.getsockname()[1], connections=2)) as smtp,
    ):
        assert smtp.capabilities.concurrency == 6
        batch = [message("maria@mailbox.example") for _ in range(5)]
        found = Counter(each.outcome for each in smtp.send(batch, deadline=timedelta(seconds=2)))
    assert found[NotStarted(code="not_started")] == 3
    assert sum(isinstance(each, Unavailable) for each in found.elements()) == 2


class SlowServer(SmtpFake):
    """Takes as many milliseconds for a mail as its recipient's name says."""

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: SmtpSession, envelope: Envelope
    ) -> str:
        answer = await super().handle_DATA(server, session, envelope)
        await asyncio.sleep(int(envelope.rcpt_tos[0].partition("@")[0]) / 1000)
        return answer


@pytest.fixture
def slow() -> Iterator[SlowServer]:
    with closing(SlowServer()) as it:
        yield it


def taking(milliseconds: int, *, urgent: bool = False) -> Message:
    return replace(message(f"{milliseconds}@mailbox.example"), urgent=urgent)


def outcomes(smtp: Smtp, batch: Sequence[Message], *, seconds: float) -> list[Outcome]:
    found = {r.delivery_id: r for r in smtp.send(batch, deadline=timedelta(seconds=seconds))}
    return [found[each.delivery_id].outcome for each in batch]


def test_a_deadline_begins_when_its_mail_does(slow: SlowServer) -> None:
    with closing(adapter(slow.port, connections=1)) as smtp:
        first, second, third = outcomes(smtp, [taking(1_200), taking(4_000), taking(0)], seconds=5)
    # The second ended later than five seconds after the call of `send`, the third never began.
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert third == NotStarted(code="not_started")
    assert len(slow.contents) == 2


def test_a_mail_that_hangs_does_not_hold_the_others(slow: SlowServer) -> None:
    with closing(adapter(slow.port, connections=2)) as smtp:
        hung, *others = outcomes(smtp, [taking(60_000), *map(taking, range(10))], seconds=5)
    assert hung == Unanswered(code="timeout")
    assert all(isinstance(each, Accepted) for each in others)


def test_an_urgent_mail_goes_before_patient_ones_that_came_earlier(slow: SlowServer) -> None:
    with closing(adapter(slow.port, connections=1)) as smtp:
        patient = smtp.send([taking(4_000), taking(1)], deadline=SOON)
        # One goes over the bound, so that it need not wait for the first.
        hurry = [taking(2, urgent=True), taking(3, urgent=True)]
        assert len(outcomes(smtp, hurry, seconds=30)) == 2
        assert len(list(patient)) == 2
    names = [email.message_from_bytes(each)["To"].partition("@")[0] for each in slow.contents]
    assert sorted(names) == ["1", "2", "3", "4000"]
    assert max(names.index("2"), names.index("3")) < names.index("1")


def test_replies_that_arrive_while_the_process_is_frozen_are_read(slow: SlowServer) -> None:
    with closing(adapter(slow.port, connections=8)) as smtp:
        child = os.fork()
        if child == 0:
            found = outcomes(smtp, [taking(900) for _ in range(8)], seconds=3)
            os._exit(sum(not isinstance(each, Accepted) for each in found))
        while len(slow.contents) < 8:
            Event().wait(0.01)
        os.kill(child, signal.SIGSTOP)
        Timer(5, os.kill, (child, signal.SIGCONT)).start()
        assert os.waitpid(child, 0)[1] == 0


def test_connections_are_opened_by_need(server: SmtpFake) -> None:
    with closing(adapter(server.port, connections=8)) as smtp:
        for _ in range(10):
            assert isinstance(outcome(smtp), Accepted)
        assert server.connections == 1
        assert smtp.capabilities.concurrency == 24


def test_an_answer_that_came_is_not_given_up() -> None:
    delivery = Delivery(delivery_id=uuid4(), begin_by=monotonic() + 60, deadline_seconds=1)
    assert delivery.begin()
    delivery.finish(Accepted(message_id="m-1"))
    assert delivery.give_up().outcome == Accepted(message_id="m-1")


def test_a_mail_that_was_given_up_before_it_began_never_begins() -> None:
    delivery = Delivery(delivery_id=uuid4(), begin_by=monotonic() + 60, deadline_seconds=1)
    given_up = delivery.give_up()
    assert given_up.outcome == NotStarted(code="not_started")
    assert given_up.latency == timedelta(0)
    assert not delivery.begin()


def test_a_server_that_greets_and_then_drips_cannot_stretch_the_deadline() -> None:
    stop, finished = Event(), Event()

    def drip(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client:
            client.sendall(b"220-hello\r\n")
            for _ in range(400):
                if stop.wait(0.05):
                    return
                client.sendall(b"220-and hello\r\n")
        finished.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        with closing(adapter(listener.getsockname()[1])) as smtp:
            deadline = timedelta(seconds=0.4)
            (result,) = smtp.send([message("maria@mailbox.example")], deadline=deadline)
            stop.set()
    thread.join(30)
    assert isinstance(result.outcome, Unavailable)
    assert not finished.is_set(), "the call waited for the end of the greeting"


def test_a_server_without_starttls_is_our_mistake(server: SmtpFake) -> None:
    config = Config(
        url=server_url(f"smtp://127.0.0.1:{server.port}?starttls=1"), from_=mailbox(SENDER)
    )
    with closing(Smtp(config)) as smtp:
        assert isinstance(outcome(smtp), Misconfigured)


@pytest.mark.parametrize(
    ("url", "port", "tls"),
    [
        ("smtp://mail.example", 25, Tls.NONE),
        ("smtp://mail.example?starttls=1", 587, Tls.STARTTLS),
        ("smtp://mail.example:2525?starttls=yes", 2525, Tls.STARTTLS),
        ("smtps://mail.example", 465, Tls.IMPLICIT),
    ],
)
def test_the_url_says_how_to_connect(url: str, port: int, tls: Tls) -> None:
    server = server_url(url)
    assert (server.port, server.tls) == (port, tls)


def test_a_misspelt_parameter_of_the_url_sends_no_password_without_tls() -> None:
    with pytest.raises(ValueError, match="the only one is starttls=1"):
        server_url("smtp://user:hidden@mail.example?startls=1")
