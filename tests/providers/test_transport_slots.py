"""The transport when more is to be sent than it has slots for: order, bounds and deadlines."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from queue import SimpleQueue
from threading import Event, Semaphore
from time import monotonic
from typing import Any
from unittest.mock import Mock

import pycurl
import pytest

from providers.sandbox_server.wire import Connection, ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import FailureKind, Response, Transport, easy, loop
from providers.transport.guard import AddressPolicy
from providers.transport.lines import Batch, Bounds
from providers.transport.loop import Loop, _Flight
from providers.transport.origin import Origin, Plan
from providers.transport.watching import Watching
from tests.providers.fakes import Listener, never
from tests.providers.sending import SECOND, failed, http_server, post, raw_server, reply_to


def test_a_server_that_never_answers_costs_the_deadline_of_one_round() -> None:
    with http_server(lambda _seen: never()) as url, closing(Transport(per_origin=64)) as transport:
        started = monotonic()
        requests = [post(url) for _ in range(100)]
        replies = [reply for _, reply in transport.send(requests, deadline=3 * SECOND)]
        assert monotonic() - started >= 3
    assert Counter(failed(reply) for reply in replies) == {
        (FailureKind.NO_ANSWER, "timeout"): 64,
        (FailureKind.NEVER_SENT, "not_started"): 36,
    }


def test_a_deadline_begins_when_its_request_starts() -> None:
    async def slowly(seen: Seen) -> ServerAnswer:
        await asyncio.sleep(float(seen.body))
        return ServerAnswer(status=200, body=seen.body)

    with http_server(slowly) as url, closing(Transport(per_origin=1)) as transport:
        requests = [post(url, body=seconds) for seconds in (b"1.2", b"4.0", b"0")]
        replies = dict(transport.send(requests, deadline=5 * SECOND))
    # The second ended later than five seconds after the call of `send`, the third never began.
    assert isinstance(replies[0], Response)
    assert isinstance(replies[1], Response)
    assert replies[1].elapsed < 5 * SECOND
    assert failed(replies[2]) == (FailureKind.NEVER_SENT, "not_started")
    assert replies[2].elapsed == 0 * SECOND


def test_urgent_requests_start_before_patient_ones_that_came_earlier() -> None:
    seen: list[bytes] = []
    released, arrived = asyncio.Event(), Semaphore(0)

    async def hold_the_first(request: Seen) -> ServerAnswer:
        seen.append(request.body)
        arrived.release()
        if len(seen) == 1:
            await released.wait()
        return ServerAnswer(status=200)

    with (
        closing(Listener(lambda: Connection(hold_the_first))) as server,
        closing(Transport(per_origin=1)) as transport,
    ):
        url = f"http://127.0.0.1:{server.port}/"
        patient = transport.send(
            [post(url, body=b"p%d" % n) for n in range(3)], deadline=30 * SECOND
        )
        assert arrived.acquire(timeout=30)
        hurry = replace(post(url, body=b"u"), urgent=True)
        # One of the two goes over the bound, so that they need not wait for the first.
        assert len(list(transport.send([hurry, hurry], deadline=30 * SECOND))) == 2
        server.run(_set(released))
        assert len(list(patient)) == 3
    assert seen == [b"p0", b"u", b"u", b"p1", b"p2"]


async def _set(event: asyncio.Event) -> None:
    event.set()


def test_a_server_of_a_strangers_is_not_flooded() -> None:
    now = most = 0

    async def slowly(_seen: Seen) -> ServerAnswer:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return ServerAnswer(status=200)

    private = AddressPolicy(allow_private=True)
    with http_server(slowly) as url, closing(Transport(per_stranger=5)) as transport:
        replies = transport.send([post(url, guard=private)] * 50, deadline=30 * SECOND)
        assert all(isinstance(reply, Response) for _, reply in replies)
        assert most == 5
        replies = transport.send([post(url)] * 50, deadline=30 * SECOND)
        assert all(isinstance(reply, Response) for _, reply in replies)
        assert most > 5  # the same server in our own settings is no stranger


def test_answers_are_read_between_the_starts_of_a_long_batch(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = [0]
    wait, start = Watching.wait, Origin.start

    def look(watching: Watching, seconds: float | None) -> Iterator[tuple[int, int]]:
        begun.append(0)
        return wait(watching, seconds)

    def count(origin: Origin) -> Plan:
        begun[-1] += 1
        return start(origin)

    monkeypatch.setattr(Watching, "wait", look)
    monkeypatch.setattr(Origin, "start", count)

    def answer(_seen: Seen) -> ServerAnswer:
        return ServerAnswer(status=200, body=b"yes")

    with http_server(answer) as busy, http_server(answer) as other:
        requests = [post(busy)] * 300 + [post(other)]
        replies = transport.send(requests, deadline=60 * SECOND)
        assert all(isinstance(reply, Response) for _, reply in replies)
    assert max(begun) == 64 + 1  # the other server does not wait for the end of the batch


def test_two_thousand_requests_are_in_flight_at_once(transport: Transport) -> None:
    count = 0
    arrived, everyone = Semaphore(0), asyncio.Event()

    async def together(_seen: Seen) -> ServerAnswer:
        nonlocal count
        count += 1
        if count % 100 == 0:
            arrived.release()
        if count == 2_000:
            everyone.set()
        await everyone.wait()
        return ServerAnswer(status=200)

    waiting = []
    with http_server(together) as url:
        for _ in range(20):  # not all at once: the test's server accepts a hundred at a time
            waiting.append(transport.send([post(url)] * 100, deadline=60 * SECOND))
            assert arrived.acquire(timeout=60)
        replies = [reply for sent in waiting for _, reply in sent]
    assert Counter(type(reply) for reply in replies) == {Response: 2_000}


def test_a_thread_that_is_busy_with_untrusted_urls_delays_no_provider(transport: Transport) -> None:
    released = Event()

    def hold() -> None:
        released.wait(30)

    with http_server(lambda _seen: ServerAnswer(status=200)) as url:
        strange = post(url, guard=AddressPolicy(allow_private=True))
        held = transport.send([strange], deadline=60 * SECOND, begins=[hold])
        reply = reply_to(transport, post(url), deadline=SECOND)
        released.set()
        assert isinstance(reply, Response)
        assert [isinstance(late, Response) for _, late in held] == [True]


def test_a_connection_that_is_made_while_the_thread_is_busy_is_no_failure(
    transport: Transport,
) -> None:
    def stall() -> None:
        Event().wait(easy.CONNECT_TIMEOUT.total_seconds() + 0.5)

    def at_once(_seen: Seen) -> ServerAnswer:
        return ServerAnswer(status=200)

    with http_server(at_once) as kept, http_server(at_once) as new:
        reply_to(transport, post(kept))
        replies = dict(
            transport.send([post(new), post(kept)], deadline=30 * SECOND, begins=[None, stall])
        )
    assert all(isinstance(reply, Response) for reply in replies.values())


def test_a_server_that_takes_no_connection_fails_also_beside_a_late_thread(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(easy, "CONNECT_TIMEOUT", SECOND / 5)
    monkeypatch.setattr(loop, "_LATE_AFTER", 0.0)
    monkeypatch.setattr(loop, "STANDSTILL", 60.0)
    with ExitStack() as ends:
        server = ends.enter_context(closing(socket.socket()))
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(3):  # the queue of the server is full then
            waiting = ends.enter_context(closing(socket.socket()))
            waiting.settimeout(0)
            waiting.connect_ex(server.getsockname())
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        reply = reply_to(transport, post(url), deadline=SECOND / 5)
    assert failed(reply) == (FailureKind.NEVER_SENT, "connect")


def test_a_connection_that_is_made_between_two_looks_at_the_sockets_is_no_failure(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(easy, "CONNECT_TIMEOUT", SECOND / 5)
    monkeypatch.setattr(loop, "_LATE_AFTER", 0.2)
    monkeypatch.setattr(loop, "STANDSTILL", 60.0)
    stalls: list[bool] = []
    hand_back = Loop._hand_back

    def stall_once(running: Loop) -> None:
        hand_back(running)
        flights = running._flights.values()
        if not stalls and any(each.easy.descriptors for each in flights):
            stalls.append(not any(each.easy.is_sent for each in flights))
            Event().wait(0.5)

    monkeypatch.setattr(Loop, "_hand_back", stall_once)
    with http_server(lambda _seen: ServerAnswer(status=200)) as url:
        assert isinstance(reply_to(transport, post(url), deadline=30 * SECOND), Response)
    assert stalls == [True]


def test_a_process_without_a_free_descriptor_blames_no_provider(
    transport: Transport, caplog: pytest.LogCaptureFixture
) -> None:
    def at_once(_seen: Seen) -> ServerAnswer:
        return ServerAnswer(status=200)

    with http_server(at_once) as known, http_server(at_once) as new:
        reply_to(transport, post(known))
        with _no_free_descriptor():
            urls = (new, new, "https://provider.invalid/")  # the lookup of a name fails, too
            replies = [reply_to(transport, post(url)) for url in urls]
        assert {failed(reply) for reply in replies} == {(FailureKind.NEVER_SENT, "not_started")}
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert isinstance(reply_to(transport, post(new)), Response)


@contextmanager
def _no_free_descriptor() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first_free = os.dup(0)
    os.close(first_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_provider_that_hangs_does_not_slow_another(transport: Transport) -> None:
    with (
        http_server(lambda _seen: never()) as hung,
        http_server(lambda _seen: ServerAnswer(status=200)) as well,
    ):
        waiting = transport.send([post(hung) for _ in range(200)], deadline=60 * SECOND)
        assert isinstance(reply_to(transport, post(well), deadline=30 * SECOND), Response)
        waiting.close()


def test_what_a_caller_abandoned_is_never_started() -> None:
    arrived, answers = SimpleQueue[bytes](), Semaphore(0)

    def serve(client: socket.socket) -> None:
        while data := client.recv(65536):
            while data.endswith(b"\r\n\r\n") and (body := client.recv(65536)):
                data += body
            arrived.put(data)
            answers.acquire(timeout=30)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with raw_server(serve) as url, closing(Transport(per_origin=1)) as transport:
        # The first is answered, the second is being read, the third still waits.
        replies = transport.send(
            [post(url, body=b"%d" % n) for n in range(3)], deadline=30 * SECOND
        )
        answers.release()
        next(replies)
        while not arrived.get(timeout=30).endswith(b"1"):
            pass
        replies.close()
        other = transport.send([post(url, body=b"other")], deadline=30 * SECOND)
        answers.release(2)
        assert isinstance(next(other)[1], Response)
        assert arrived.get(timeout=30).endswith(b"other")
        assert arrived.empty()


class _Early:
    """A handle whose connection took no request yet."""

    met_closed, came_early = False, True
    curl = object()

    def own_delay(self, *, began_at: float, missed_at: float) -> timedelta:
        del began_at, missed_at
        return timedelta(0)


def test_a_request_that_came_to_a_connection_too_early_and_too_late_to_start_again_never_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = Loop(Bounds(per_origin=1, per_stranger=1, in_total=1))
    loop.close()
    monkeypatch.setattr(loop, "_multi", Mock())
    batch = Batch.of([post("https://provider.example/")], deadline_seconds=9)
    loop._lines.add(batch)
    [(name, origin, _, index)] = loop._lines.startable()
    early: Any = _Early()
    flight = _Flight(early, name, batch, index, monotonic(), origin.start())
    loop._flights[early.curl] = flight
    batch.begun[early.curl] = 0.0
    batch.expired = True
    loop._land(early.curl, pycurl.E_ABORTED_BY_CALLBACK)
    [(_, reply)] = batch.fresh
    assert failed(reply) == (FailureKind.NEVER_SENT, "not_started")
    assert origin.in_flight == 0
