"""The part of a call's time in which the answer waited for this process."""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Final

import pytest

from providers.sandbox_server.wire import ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import Response, Transport, easy, sockets
from providers.transport.sockets import Sockets, seconds_since_input
from tests.providers.sending import SECOND, http_server, post

_KERNEL_STEP: Final = timedelta(milliseconds=20)
"""Two steps of the kernel's clock of 100 a second, which is the slowest."""


def test_an_answer_that_waits_for_the_loop_waits_for_us(transport: Transport) -> None:
    begun, answered = itertools.count(), threading.Event()
    busy = timedelta(0)

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65_536)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            answered.set()
            client.recv(1)  # until the transport closes the connection

    def accept(server: socket.socket) -> None:
        for _ in range(2):
            threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()

    def begin() -> None:
        """Keep the loop busy before the second request leaves, while the first is answered."""
        nonlocal busy
        if next(begun) == 0:
            return
        assert answered.wait(30)
        since = monotonic()
        threading.Event().wait(0.3)
        busy = timedelta(seconds=monotonic() - since)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=[server], daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        sent = transport.send([post(url)] * 2, deadline=30 * SECOND, begins=[begin] * 2)
        replies = [reply for _, reply in sent if isinstance(reply, Response)]
    assert len(replies) == 2
    longest = max(replies, key=lambda reply: reply.own_delay)
    assert busy - _KERNEL_STEP <= longest.own_delay <= longest.elapsed


@pytest.mark.parametrize(
    ("began_at", "sent_at", "missed_at", "expected"),
    [
        (90.0, 90.0, 99.99, 0.0),
        (99.0, 99.99, 90.0, 0.99),
        (90.0, 90.0, 90.0, 5.0),
        (98.0, 98.0, 90.0, 2.0),
        (97.0, 98.0, 90.0, 1.0 + 2.0),
    ],
    ids=["missed just now", "sent just now", "old input", "older input", "sent late"],
)
def test_the_kernel_is_asked_about_an_answer_that_may_have_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
    began_at: float,
    sent_at: float,
    missed_at: float,
    expected: float,
) -> None:
    monkeypatch.setattr(easy, "monotonic", lambda: 100.0)
    monkeypatch.setattr(sockets, "seconds_since_input", lambda _descriptor: 5.0)
    handle = easy.Easy(Sockets())
    handle._sent, handle._sent_at = True, sent_at
    delay = handle.own_delay(began_at=began_at, missed_at=missed_at)
    assert delay.total_seconds() == pytest.approx(expected)


def test_the_time_of_the_provider_is_no_delay_of_ours(transport: Transport) -> None:
    held: list[float] = []

    async def slowly(_seen: Seen) -> ServerAnswer:
        since = monotonic()
        await asyncio.sleep(0.3)
        held.append(monotonic() - since)
        return ServerAnswer(status=200)

    with http_server(slowly) as url:
        replies = [reply for _, reply in transport.send([post(url)] * 20, deadline=30 * SECOND)]
    for reply in replies:
        assert isinstance(reply, Response)
        assert reply.elapsed - reply.own_delay >= timedelta(seconds=min(held)) - _KERNEL_STEP


def test_the_kernel_does_not_know_the_input_of_a_closed_or_local_socket() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert seconds_since_input(one.fileno()) == 0
    assert seconds_since_input(-1) == 0
