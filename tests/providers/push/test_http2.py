"""The transport over HTTP/2: one connection for all, and what may be said of what it loses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from h2.errors import ErrorCodes

from providers.sandbox_server.wire import ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import Failure, FailureKind, Reply, Request, Response, Transport
from providers.transport.origin import STREAMS
from tests.providers.fakes import cut
from tests.providers.push.http2 import GoAway, Http2Server, Reset, Serve
from tests.providers.push.http2 import Reply as Served

PATIENCE = timedelta(seconds=30)


@contextmanager
def server(serve: Serve, certificate: Path) -> Iterator[Http2Server]:
    with closing(Http2Server(serve, certificate=certificate)) as it:
        yield it


def post(url: str, *, body: bytes = b"{}") -> Request:
    return Request(url=url + "/", headers=["Content-Type: application/json"], body=body)


def reply_to(transport: Transport, url: str) -> Reply:
    ((_, reply),) = transport.send([post(url)], deadline=PATIENCE)
    return reply


def first_then(serve: Callable[[], Served]) -> tuple[Serve, list[bytes]]:
    """Answer the first request, so that the connection is in use, and then misbehave."""
    seen: list[bytes] = []

    def handler(request: Seen) -> Served:
        seen.append(request.body)
        return ServerAnswer(status=200) if len(seen) == 1 else serve()

    return handler, seen


def test_few_connections_carry_many_requests_at_once(
    transport: Transport, certificate: Path
) -> None:
    enough, seen = asyncio.Event(), 0

    async def once_enough_are_open(request: Seen) -> ServerAnswer:
        nonlocal seen
        seen += 1
        if seen > STREAMS:
            enough.set()
        if seen > 1:  # the first on a connection goes alone
            await enough.wait()
        return ServerAnswer(status=200, body=request.body)

    with server(once_enough_are_open, certificate) as it:
        requests = [post(it.url, body=b"%d" % number) for number in range(500)]
        replies = dict(transport.send(requests, deadline=PATIENCE))
        assert it.counts.connections <= 9  # one, and then at most eight at a time
        assert it.counts.most_at_once == STREAMS
    for number, reply in replies.items():
        assert isinstance(reply, Response)
        assert reply.body == b"%d" % number


def test_the_first_request_of_each_connection_goes_alone(
    transport: Transport, certificate: Path
) -> None:
    async def slowly(request: Seen) -> ServerAnswer:
        await asyncio.sleep(0.05)
        return ServerAnswer(status=200, body=request.body)

    with server(slowly, certificate) as it:
        replies = dict(transport.send([post(it.url) for _ in range(600)], deadline=PATIENCE))
    assert all(isinstance(reply, Response) for reply in replies.values())
    assert it.counts.connections > 2
    assert it.counts.too_early == 0


@pytest.mark.parametrize(
    "misbehave",
    [
        cut,
        GoAway,
        lambda: Reset(ErrorCodes.REFUSED_STREAM),
        lambda: Reset(ErrorCodes.INTERNAL_ERROR),
        lambda: Reset(ErrorCodes.CANCEL),
    ],
    ids=["cut", "goaway", "refused", "internal", "cancel"],
)
def test_a_request_that_was_written_and_not_answered_is_never_called_unsent_nor_repeated(
    transport: Transport, certificate: Path, misbehave: Callable[[], Served]
) -> None:
    serve, seen = first_then(misbehave)
    with server(serve, certificate) as it:
        assert isinstance(reply_to(transport, it.url), Response)
        reply = reply_to(transport, it.url)
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.NO_ANSWER
    assert len(seen) == 2


def test_a_connection_that_is_cut_loses_all_its_requests_and_none_is_called_unsent(
    transport: Transport, certificate: Path
) -> None:
    seen: list[bytes] = []

    def serve(request: Seen) -> Served:
        seen.append(request.body)
        return cut()

    with server(serve, certificate) as it:
        requests = [post(it.url, body=b"%d" % number) for number in range(50)]
        replies = dict(transport.send(requests, deadline=PATIENCE))
    for number, reply in replies.items():
        assert isinstance(reply, Failure)
        if reply.kind is FailureKind.NEVER_SENT:
            assert b"%d" % number not in seen
    assert len(seen) == len(set(seen))


async def at_once(request: Seen) -> ServerAnswer:
    await asyncio.sleep(0)
    return ServerAnswer(status=200, body=request.body)


@pytest.mark.parametrize("streams", [1, 10])
def test_a_server_that_takes_few_requests_at_once_is_not_given_more(
    transport: Transport, certificate: Path, streams: int
) -> None:
    with closing(Http2Server(at_once, certificate=certificate, streams=streams)) as it:
        replies = transport.send([post(it.url) for _ in range(200)], deadline=PATIENCE)
        assert all(isinstance(reply, Response) for _, reply in replies)
        assert it.counts.most_at_once <= streams


def test_a_closed_connection_is_replaced_by_one_and_not_by_one_for_each_request(
    transport: Transport, certificate: Path
) -> None:
    with server(at_once, certificate) as it:
        for expected in (1, 2, 3):
            replies = transport.send([post(it.url) for _ in range(STREAMS)], deadline=PATIENCE)
            assert [reply for _, reply in replies if isinstance(reply, Failure)] == []
            assert it.counts.connections == expected
            it.stop()
            it.start()


def test_after_a_goaway_the_next_request_takes_a_new_connection(
    transport: Transport, certificate: Path
) -> None:
    answers: Iterator[Served] = iter([ServerAnswer(status=200), GoAway(), ServerAnswer(status=200)])
    with server(lambda _seen: next(answers), certificate) as it:
        assert isinstance(reply_to(transport, it.url), Response)
        assert isinstance(reply_to(transport, it.url), Failure)
        assert isinstance(reply_to(transport, it.url), Response)
        assert it.counts.connections == 2
