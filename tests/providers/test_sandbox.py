"""The sandbox: the table of its addresses, what it keeps, what it tells afterwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import orjson
import pytest

from providers import configuration
from providers.contract import (
    Accepted,
    Channel,
    InboundText,
    Message,
    Misconfigured,
    Outcome,
    Receipt,
    ReceiptKind,
    ReceiptRequest,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sandbox import Config, Sandbox
from providers.sandbox_server.steering import Ending, Steering, steering_of
from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from providers.standard_webhooks import sign
from providers.transport import Transport
from tests.providers.fakes import Listener, free_port
from tests.providers.messages import NOON, SECRET, message, noon

SOON = timedelta(seconds=30)
KEYS = configuration.secrets(SECRET)


class Server:
    """The real process, and an adapter for it."""

    def __init__(self, *arguments: str) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.arguments = arguments
        self.transport = Transport()
        self.sandbox = Sandbox(Config(url=self.url, secret=KEYS), transport=self.transport)
        self.start()

    def start(self) -> None:
        port = self.url.rpartition(":")[2]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "providers.sandbox_server", "--port", port, *self.arguments],
            env=os.environ | {"NOTIFY_SANDBOX_SECRET": SECRET},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert "listening" in self.process.stdout.readline()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(30)

    def close(self) -> None:
        self.stop(signal.SIGKILL)
        self.transport.close()

    def send(self, sent: Message, deadline: timedelta = SOON) -> Outcome:
        (result,) = self.sandbox.send([sent], deadline=deadline)
        return result.outcome

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        head = f"{method} {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(head + body)
            answer = b""
            while b"\r\n\r\n" not in answer or not _complete(answer):
                answer += client.recv(65536)
        top, _, rest = answer.partition(b"\r\n\r\n")
        return int(top.split(b" ")[1]), rest

    def json(self, path: str) -> Any:  # noqa: ANN401 - as JSON is
        return orjson.loads(self.ask("GET", path)[1])


def _complete(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    (length,) = [line for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
    return len(body) >= int(length.partition(b":")[2])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with closing(Server()) as it:
        yield it


@pytest.mark.parametrize(
    ("address", "channel", "expected"),
    [
        ("maria@mailbox.example", Channel.EMAIL, [Accepted]),
        ("maria+400@mailbox.example", Channel.EMAIL, [Rejected, Rejected]),
        ("+1-555-0000", Channel.SMS, [Rejected, Rejected]),
        ("+15550000", Channel.SMS, [Rejected]),
        ("+15555032000", Channel.SMS, [Unavailable, Unavailable, Accepted]),
        ("+15556001301", Channel.SMS, [Unanswered, Accepted]),
        ("+15551234567", Channel.SMS, [Accepted]),
        ("token.401", Channel.PUSH, [Misconfigured, Misconfigured]),
        ("token.500x1", Channel.PUSH, [Unavailable, Accepted]),
        ("https://hooks.example/503x1", Channel.WEBHOOK, [Unavailable, Accepted]),
        ("#ops.crashx1", Channel.CHAT, [Unanswered, Accepted]),
        ("u_1.410", Channel.IN_APP, [Rejected]),
    ],
)
def test_the_address_chooses_the_outcomes(
    server: Server, address: str, channel: Channel, expected: list[type[Outcome]]
) -> None:
    sent = message(address, channel)
    assert [type(server.send(sent)) for _ in expected] == expected
    (entry,) = server.json(f"/messages.json?delivery_id={sent.delivery_id}")["messages"]
    assert entry["call_count"] == len(expected)
    assert {call["idempotency_key"] for call in entry["calls"]} == {sent.idempotency_key}


def test_an_invalid_number_is_named_so_and_a_dead_address_too(server: Server) -> None:
    invalid = server.send(message("+15550000", Channel.SMS))
    assert isinstance(invalid, Rejected)
    assert "invalid_number" in invalid.detail
    dead = server.send(message("token.410"))
    assert isinstance(dead, Rejected)
    assert dead.contact_is_dead


def test_throttling_names_its_wait(server: Server) -> None:
    outcome = server.send(message("token.429.after-3s"))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == timedelta(seconds=3)


@pytest.mark.parametrize(("word", "shown"), [("hang", 1), ("stall", 0), ("slow-9s", 1)])
def test_what_is_not_answered_may_or_may_not_have_been_taken(
    server: Server, word: str, shown: int
) -> None:
    sent = message(f"token.{word}")
    assert isinstance(server.send(sent, timedelta(seconds=2)), Unanswered)
    (entry,) = server.json(f"/messages.json?delivery_id={sent.delivery_id}")["messages"]
    assert entry["shown"] == shown


def test_a_repeat_is_recognised_by_its_key(server: Server) -> None:
    sent = message("token.crashx1.receipt-never")
    assert isinstance(server.send(sent), Unanswered)
    assert isinstance(server.send(sent), Accepted)
    (entry,) = server.json(f"/messages.json?delivery_id={sent.delivery_id}")["messages"]
    assert (entry["call_count"], entry["shown"], entry["deduplicated"]) == (2, 1, True)


def test_a_repeat_is_shown_twice_where_nothing_recognises_it(server: Server) -> None:
    before = server.json("/stats.json")["duplicates_shown"]
    asked = message("token.crashx1.nodedup")
    plain = Sandbox(Config(url=server.url, secret=KEYS, dedup=False), transport=server.transport)
    for _ in range(2):
        server.send(asked)
        list(plain.send([replace(asked, delivery_id=NOBODY, address="token")], deadline=SOON))
    for delivery_id in (asked.delivery_id, NOBODY):
        (entry,) = server.json(f"/messages.json?delivery_id={delivery_id}")["messages"]
        assert (entry["shown"], entry["deduplicated"]) == (2, False)
    assert server.json("/stats.json")["duplicates_shown"] == before + 2


NOBODY = message("").delivery_id


def test_steering_holds_for_every_address_of_a_channel_until_it_is_ended(server: Server) -> None:
    wish = b'{"words": "503", "channels": ["sms"]}'
    assert server.ask("POST", "/steer", wish)[0] == 200
    assert isinstance(server.send(message("+4915112345678", Channel.SMS)), Unavailable)
    assert isinstance(server.send(message("token", Channel.PUSH)), Accepted)
    assert server.ask("POST", "/steer", b"{}")[0] == 200
    assert isinstance(server.send(message("+4915112345678", Channel.SMS)), Accepted)
    assert server.ask("POST", "/steer", b'{"words": "503 typo"}')[0] == 400


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/messages", b"{", 400),
        ("POST", "/v1/messages", b"[]", 400),
        ("POST", "/v1/messages", b'{"delivery_id": 1, "channel": "sms", "address": ""}', 400),
        ("POST", "/steer", b"[1]", 400),
        ("POST", "/steer", b'{"channels": ["pigeon"]}', 400),
        ("GET", "/messages.json?since=yesterday", b"", 400),
        ("GET", "/messages.json?since=2026-01-01", b"", 400),
        ("POST", "/reply", b"address=%2B15551234567&text=STOP", 400),  # nobody listens
        ("GET", "/nowhere", b"", 404),
        ("PUT", "/", b"", 404),
    ],
)
def test_nonsense_gets_a_4xx(
    server: Server, method: str, path: str, body: bytes, status: int
) -> None:
    assert server.ask(method, path, body)[0] == status


def test_the_page_shows_messages_and_runs_nothing_of_them(server: Server) -> None:
    evil = "<script>alert(1)</script>"
    sent = message(f'"{evil}"@x', Channel.EMAIL, title=evil, html=f'"></iframe>{evil}')
    server.send(sent)
    server.send(message("+15551234567", Channel.SMS, body=f"Your code is 4711 {evil}"))
    status, page = server.ask("GET", "/")
    assert status == 200
    assert evil.encode() not in page
    assert b'sandbox=""' in page
    assert b"Your code is 4711 &lt;script&gt;" in page
    assert b'action="reply"' not in page
    _, only_sms = server.ask("GET", "/?channel=sms")
    assert str(sent.delivery_id).encode() not in only_sms


def test_the_journal_survives_a_kill_and_delete_empties_it(tmp_path: Path) -> None:
    journal = tmp_path / "deep" / "sandbox.jsonl"
    with closing(Server("--journal", str(journal))) as server:
        sent = message("token.503x1.crashx1")
        assert isinstance(server.send(sent), Unanswered)
        before = server.json("/messages.json")
        stats = server.json("/stats.json")
        server.stop(signal.SIGKILL)
        with journal.open("ab") as file:
            file.write(b'{"cut off')
        server.start()
        assert server.json("/messages.json") == before
        assert server.json("/stats.json") == stats
        assert isinstance(server.send(sent), Accepted)
        (entry,) = server.json("/messages.json")["messages"]
        assert (entry["call_count"], entry["shown"]) == (2, 1)
        server.ask("DELETE", "/messages")
        assert server.json("/stats.json")["calls"] == 0
        assert journal.stat().st_size == 0
        assert server.stop() == 0
        server.start()
        assert server.json("/messages.json") == {"messages": []}


def test_only_the_newest_are_kept_and_all_are_counted() -> None:
    with closing(Server("--keep", "10")) as server:
        batch = [message("token") for _ in range(25)]
        for each in batch:
            server.send(each)
        kept = [entry["delivery_id"] for entry in server.json("/messages.json")["messages"]]
        assert kept == [str(each.delivery_id) for each in batch[-10:]]
        assert server.json("/stats.json")["calls"] == 25


def test_a_port_in_use_is_one_clear_line(server: Server) -> None:
    port = server.url.rpartition(":")[2]
    failed = subprocess.run(
        [sys.executable, "-m", "providers.sandbox_server", "--port", port],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1


class Inbox:
    """An endpoint for receipts that can refuse the first calls."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[ServerRequest] = SimpleQueue()
        self.refuse = 0
        self._listener = Listener(lambda: Connection(self._handle))
        self.url = f"http://127.0.0.1:{self._listener.port}/v1/receipts/sandbox"
        self.close = self._listener.close

    def _handle(self, request: ServerRequest) -> ServerAnswer:
        self.calls.put(request)
        self.refuse -= 1
        return ServerAnswer(status=503 if self.refuse >= 0 else 200)


@contextmanager
def served_with_receipts() -> Iterator[tuple[Server, Inbox]]:
    with closing(Inbox()) as inbox, closing(Server("--receipts-url", inbox.url)) as server:
        yield server, inbox


def said(server: Server, inbox: Inbox) -> Sequence[Receipt | InboundText]:
    call = inbox.calls.get(timeout=30)
    request = ReceiptRequest(url=inbox.url, headers=call.headers, body=call.body)
    return server.sandbox.parse_receipt(request)


def received(server: Server, inbox: Inbox) -> list[Receipt]:
    return [each for each in said(server, inbox) if isinstance(each, Receipt)]


def texts_in(server: Server, inbox: Inbox) -> list[InboundText]:
    return [each for each in said(server, inbox) if isinstance(each, InboundText)]


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("plain", [ReceiptKind.DELIVERED]),
        ("receipt-early", [ReceiptKind.DELIVERED]),
        ("receipt-late-50ms", [ReceiptKind.DELIVERED]),
        ("receipt-read", [ReceiptKind.DELIVERED, ReceiptKind.READ]),
        ("receipt-bounced", [ReceiptKind.BOUNCED]),
        ("receipt-twice", [ReceiptKind.DELIVERED, ReceiptKind.DELIVERED]),
        ("receipt-never", []),
    ],
)
def test_receipts_come_signed_as_the_address_asked(word: str, kinds: list[ReceiptKind]) -> None:
    with served_with_receipts() as (server, inbox):
        sent, last = message(f"token.{word}"), message("token.receipt-late-100ms")
        outcome = server.send(sent)
        if word == "receipt-early":
            assert not inbox.calls.empty()
        server.send(last)
        receipts: list[Receipt] = []
        while not receipts or receipts[-1].delivery_id != last.delivery_id:
            receipts += received(server, inbox)
    assert isinstance(outcome, Accepted)
    assert [receipt.kind for receipt in receipts[:-1]] == kinds
    for receipt in receipts[:-1]:
        assert receipt.delivery_id == sent.delivery_id
        assert receipt.provider_message_id == outcome.message_id
        assert receipt.contact_is_dead is (receipt.kind is ReceiptKind.BOUNCED)


def test_a_receipt_is_tried_again_while_its_receiver_is_away() -> None:
    with served_with_receipts() as (server, inbox):
        inbox.refuse = 2
        sent = message("token")
        server.send(sent)
        tries = [received(server, inbox) for _ in range(3)]
    assert [receipts[0].delivery_id for receipts in tries] == [sent.delivery_id] * 3


def test_an_answer_given_on_the_page_comes_signed_as_a_text() -> None:
    with served_with_receipts() as (server, inbox):
        server.send(message("+15551234567", Channel.SMS))
        _, page = server.ask("GET", "/")
        assert b'name="address" value="+15551234567"' in page
        status, _ = server.ask("POST", "/reply", b"address=%2B15551234567&text=STOP+all")
        assert status == 303
        while not (texts := texts_in(server, inbox)):  # the message's own receipt may come first
            pass
    (text,) = texts
    assert (text.from_address, text.text) == ("+15551234567", "STOP all")
    assert text.provider_message_id.startswith("sbx_in_")


def test_a_forged_or_foreign_receipt_is_refused() -> None:
    with closing(Transport()) as transport:
        sandbox = Sandbox(
            Config(url="http://x.example", secret=KEYS), transport=transport, now=noon
        )

        def request(body: bytes, **changes: str) -> ReceiptRequest:
            headers = sign(body, message_id="rcpt_1", at=NOON, secrets=KEYS) | changes
            return ReceiptRequest(url="", headers=headers, body=body)

        with pytest.raises(InvalidSignature):
            sandbox.parse_receipt(request(b"{}", **{"webhook-id": "rcpt_2"}))
        for body in (b"{", b"[]", b'{"receipts": [1]}', b'{"receipts": [{"kind": "gone"}]}'):
            with pytest.raises(MalformedReceipt):
                sandbox.parse_receipt(request(body))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("maria@sandbox.example", Steering()),
        ("maria+503x2@sandbox.example", Steering(refusal=503, times=2)),
        ("MARIA+SLOW-2S@x", Steering(delay_seconds=2)),
        ("a.429x1.after-3s", Steering(refusal=429, times=1, retry_after_seconds=3)),
        ("a.receipt-late-500ms", Steering(receipt_delay_seconds=0.5)),
        ("+1 (555) 601-0412", Steering(ending=Ending.HANG, receipts=("delivered", "read"))),
        ("+15556034100", Steering(delay_seconds=2, receipt_early=True)),
        ("503", Steering(refusal=503)),
        ("v503", Steering()),
        ("+4950312345678", Steering()),
    ],
)
def test_words_and_digits_are_read_as_the_table_says(address: str, expected: Steering) -> None:
    assert steering_of(address) == expected
