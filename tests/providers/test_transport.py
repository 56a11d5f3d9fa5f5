"""The transport against servers that behave badly."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Timer
from time import monotonic
from typing import Final

import pytest

from providers.sandbox_server.wire import ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import Failure, FailureKind, Request, Response, Transport, easy, loop
from providers.transport.exchange import BODY_LIMIT_BYTES
from providers.transport.guard import AddressPolicy
from providers.transport.lines import Bounds
from providers.transport.loop import Loop
from tests.providers.fakes import cut, free_port, never
from tests.providers.sending import SECOND, failed, http_server, post, raw_server, reply_to

FROZEN_SECONDS: Final = 5.0
"""Longer than the deadline of the requests and the standstill that the transport notices."""


def test_each_request_gets_its_own_answer(transport: Transport) -> None:
    with http_server(lambda seen: ServerAnswer(status=200, body=seen.body)) as url:
        requests = [post(url, body=str(number).encode()) for number in range(300)]
        replies = dict(transport.send(requests, deadline=30 * SECOND))
    assert len(replies) == 300
    for number, reply in replies.items():
        assert isinstance(reply, Response)
        assert reply.body == str(number).encode()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://does-not-exist.invalid/", (FailureKind.NEVER_SENT, "resolve")),
        (f"http://127.0.0.1:{free_port()}/", (FailureKind.NEVER_SENT, "connect")),
        ("gopher://127.0.0.1/", (FailureKind.REFUSED, "malformed_request")),
        ("http://127.0.0.1:notaport/", (FailureKind.REFUSED, "malformed_request")),
        ("http://exämple/\0", (FailureKind.REFUSED, "malformed_request")),
    ],
    ids=["no such host", "closed port", "no such scheme", "no port", "no URL"],
)
def test_what_cannot_start_was_never_sent(
    transport: Transport, url: str, expected: tuple[FailureKind, str]
) -> None:
    assert failed(reply_to(transport, post(url))) == expected


def test_a_process_that_stood_still_before_its_request_sends_nothing(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(easy, "monotonic", lambda: monotonic() + FROZEN_SECONDS)
    seen: list[Seen] = []

    def note(request: Seen) -> ServerAnswer:
        seen.append(request)
        return ServerAnswer(status=200)

    with http_server(note) as url:
        reply = reply_to(transport, post(url), deadline=FROZEN_SECONDS * SECOND)
    assert failed(reply) == (FailureKind.NEVER_SENT, "not_started")
    assert not seen


def test_a_connection_that_the_server_ended_during_a_standstill_is_opened_again() -> None:
    links: list[bool] = []

    def close_in_handshake(link: socket.socket) -> None:
        link.recv(1)
        links.append(True)
        if len(links) == 1:  # the loop notices a standstill before it sees the end
            [running] = transport._loops.values()
            running._reprieved_until = monotonic() + loop.REPRIEVE
        link.close()

    with raw_server(close_in_handshake) as url, closing(Transport()) as transport:
        reply = reply_to(transport, post(url.replace("http:", "https:")), deadline=30 * SECOND)
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.NEVER_SENT
    assert len(links) >= 2  # more after a standstill of the machine


def test_a_line_break_in_a_header_is_refused(transport: Transport) -> None:
    request = Request(url="http://127.0.0.1:9/", headers=["A: b\r\nEvil: yes"], body=b"")
    assert failed(reply_to(transport, request)) == (FailureKind.REFUSED, "malformed_request")


def test_a_wanted_header_is_kept_and_not_carried_over_to_the_next_request(
    transport: Transport,
) -> None:
    def answer(seen: Seen) -> ServerAnswer:
        kind = seen.body.decode()
        return ServerAnswer(status=200, headers=(("X-Kind", kind),) if kind else ())

    with http_server(answer) as url:
        wanted = [
            Request(url=url, headers=[], body=body, wanted_header=name)
            for body, name in ((b"one", "x-kind"), (b"two", ""), (b"", "x-kind"))
        ]
        replies = [reply_to(transport, request) for request in wanted]
    assert [reply.header for reply in replies if isinstance(reply, Response)] == ["one", "", ""]


def test_each_request_has_its_own_method_and_url_after_any_other_request(
    transport: Transport,
) -> None:
    seen: list[tuple[str, str, bytes]] = []

    def note(request: Seen) -> ServerAnswer:
        seen.append((request.method, request.path, request.body))
        return ServerAnswer(status=200)

    with http_server(note) as url:
        sent = [
            post(url, body=b"one"),
            Request(url=url + "two", headers=[], method="GET"),
            Request(url="http://exämple/\0", headers=[], method="GET"),
            post(url, body=b"three"),
            Request(url=url + "two", headers=[], method="GET"),
            post(url + "four", body=b"four"),
        ]
        replies = [reply_to(transport, request) for request in sent]
    assert [type(reply) for reply in replies].count(Response) == 5
    assert seen == [
        ("POST", "/", b"one"),
        ("GET", "/two", b""),
        ("POST", "/", b"three"),
        ("GET", "/two", b""),
        ("POST", "/four", b"four"),
    ]


def test_a_connection_that_dies_after_the_request_is_never_retried_in_secret(
    transport: Transport,
) -> None:
    bodies: list[bytes] = []

    def handler(seen: Seen) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        bodies.append(seen.body)
        return ServerAnswer(status=200) if seen.body == b"first" else cut()

    with http_server(handler) as url:
        assert isinstance(reply_to(transport, post(url, body=b"first")), Response)
        second = reply_to(transport, post(url, body=b"second"))
    assert failed(second) == (FailureKind.NO_ANSWER, "cut")
    assert bodies == [b"first", b"second"]


def test_a_connection_that_was_closed_while_idle_is_replaced(transport: Transport) -> None:
    closed = SimpleQueue[None]()

    def serve(client: socket.socket) -> None:
        client.recv(65536)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        client.close()
        closed.put(None)

    with raw_server(serve) as url:
        for _ in range(20):
            assert isinstance(reply_to(transport, post(url)), Response)
            closed.get(timeout=30)


def test_a_server_that_closes_every_connection_at_once_ends_in_an_answer(
    transport: Transport,
) -> None:
    with raw_server(lambda client: client.close()) as url:
        reply = reply_to(transport, post(url))
    assert isinstance(reply, Failure)


@pytest.mark.parametrize("garbage", [b"SSH-2.0-nope\r\n", b"HTTP/1.1 ", b"\0" * 500])
def test_an_answer_that_is_not_http_is_no_answer(transport: Transport, garbage: bytes) -> None:
    def serve(client: socket.socket) -> None:
        client.recv(65536)
        client.sendall(garbage)

    with raw_server(serve) as url:
        assert failed(reply_to(transport, post(url)))[0] is FailureKind.NO_ANSWER


def test_an_endless_body_is_cut_off_and_its_status_kept(transport: Transport) -> None:
    with http_server(
        lambda _seen: ServerAnswer(status=200, body=b"x" * 2 * BODY_LIMIT_BYTES)
    ) as url:
        reply = reply_to(transport, post(url))
    assert isinstance(reply, Response)
    assert (reply.status, reply.complete, reply.is_too_long) == (200, False, True)
    assert len(reply.body) <= BODY_LIMIT_BYTES


def test_a_request_has_a_limit_of_its_own_and_the_next_request_the_usual_one(
    transport: Transport,
) -> None:
    body = b"x" * 2 * BODY_LIMIT_BYTES
    with http_server(lambda _seen: ServerAnswer(status=200, body=body)) as url:
        limits = [len(body), len(body) - 1]
        wanted = [Request(url=url, headers=[], body_limit_bytes=each) for each in limits]
        replies = [reply_to(transport, each) for each in (*wanted, post(url))]
    told = [(each.complete, each.is_too_long) for each in replies if isinstance(each, Response)]
    assert told == [(True, False), (False, True), (False, True)]


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [("7", 7, 7), ("Fri, 31 Dec 2100 23:59:59 GMT", 6 * 3600, 6 * 3600), ("soon", None, None)],
)
def test_retry_after_is_read_as_seconds_or_date(
    transport: Transport, value: str, least: int | None, most: int | None
) -> None:
    answer = ServerAnswer(status=429, headers=(("Retry-After", value),))
    with http_server(lambda _seen: answer) as url:
        reply = reply_to(transport, post(url))
    assert isinstance(reply, Response)
    if least is None or most is None:
        assert reply.retry_after is None
    else:
        assert reply.retry_after is not None
        assert least <= reply.retry_after.total_seconds() <= most


def test_redirects_are_not_followed(transport: Transport) -> None:
    seen: list[str] = []

    def handler(request: Seen) -> ServerAnswer:
        seen.append(request.path)
        return ServerAnswer(status=302, headers=(("Location", "/elsewhere"),))

    with http_server(handler) as url:
        reply = reply_to(transport, post(url))
    assert isinstance(reply, Response)
    assert reply.status == 302
    assert seen == ["/"]


def test_a_proxy_in_the_environment_is_ignored(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    with http_server(lambda _seen: ServerAnswer(status=200)) as url:
        assert isinstance(reply_to(transport, post(url)), Response)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0", "0x7f.1", "2130706433", "[::1]"])
def test_a_guarded_request_never_reaches_a_private_address(transport: Transport, host: str) -> None:
    with http_server(lambda _seen: ServerAnswer(status=200)) as url:
        guarded = post(url.replace("127.0.0.1", host), guard=AddressPolicy())
        assert failed(reply_to(transport, guarded)) == (FailureKind.REFUSED, "forbidden_address")


def test_a_guarded_request_cannot_ride_on_an_open_private_connection(
    transport: Transport,
) -> None:
    seen: list[bytes] = []

    def handler(request: Seen) -> ServerAnswer:
        seen.append(request.body)
        return ServerAnswer(status=200)

    with http_server(handler) as url:
        assert isinstance(reply_to(transport, post(url, body=b"ours")), Response)
        guarded = post(url, body=b"theirs", guard=AddressPolicy())
        assert failed(reply_to(transport, guarded)) == (FailureKind.REFUSED, "forbidden_address")
    assert seen == [b"ours"]


def test_a_forked_child_sends_on_connections_of_its_own(transport: Transport) -> None:
    clients: list[bytes] = []

    def handler(request: Seen) -> ServerAnswer:
        clients.append(request.body)
        return ServerAnswer(status=200)

    with http_server(handler) as url:
        assert isinstance(reply_to(transport, post(url, body=b"parent")), Response)
        child = os.fork()
        if child == 0:
            reply = reply_to(transport, post(url, body=b"child"))
            os._exit(0 if isinstance(reply, Response) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert isinstance(reply_to(transport, post(url, body=b"parent again")), Response)
    assert clients == [b"parent", b"child", b"parent again"]


def test_answers_that_arrive_while_the_process_is_frozen_are_read(transport: Transport) -> None:
    pids: SimpleQueue[int] = SimpleQueue()
    arrived: list[bytes] = []
    frozen = asyncio.Event()

    async def handler(seen: Seen) -> ServerAnswer:
        arrived.append(seen.body)
        if len(arrived) == 2:
            child = pids.get()
            os.kill(child, signal.SIGSTOP)
            Timer(FROZEN_SECONDS, os.kill, (child, signal.SIGCONT)).start()
            frozen.set()
        await frozen.wait()
        if seen.body == b"silent":
            await never()
        return ServerAnswer(status=200)

    with http_server(handler) as url:
        child = os.fork()
        if child == 0:
            requests = [post(url, body=b"answered"), post(url, body=b"silent")]
            replies = dict(transport.send(requests, deadline=3 * SECOND))
            is_read = isinstance(replies[0], Response)
            os._exit(0 if is_read and failed(replies[1])[1] == "timeout" else 1)
        pids.put(child)
        assert os.waitpid(child, 0)[1] == 0


def test_closing_bears_a_thread_that_ends_before_it_is_woken() -> None:
    loop = Loop(Bounds(per_origin=1, per_stranger=1, in_total=1))
    loop._closing = True
    loop._wake()
    loop._thread.join()
    loop.close()


def test_a_transport_that_was_closed_starts_again() -> None:
    transport = Transport()
    with http_server(lambda _seen: ServerAnswer(status=200)) as url:
        for _ in range(2):
            assert isinstance(reply_to(transport, post(url)), Response)
            transport.close()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, chain = tmp_path / "key.pem", tmp_path / "chain.pem"
    subprocess.run(
        ["/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(chain)],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, chain


@contextmanager
def tls_server(certificate: tuple[Path, Path]) -> Iterator[str]:
    """Run a TLS server, which answers 200 to the first request of a connection."""
    key, chain = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)

    def serve(client: socket.socket) -> None:
        try:
            with context.wrap_socket(client, server_side=True) as secure:
                secure.recv(65536)
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            return  # the client did not like the certificate

    with raw_server(serve) as url:
        yield url.replace("http", "https").replace("127.0.0.1", "localhost")


def test_a_certificate_that_nobody_vouches_for_ends_the_call_before_it_is_sent(
    transport: Transport, certificate: tuple[Path, Path]
) -> None:
    with tls_server(certificate) as url:
        assert failed(reply_to(transport, post(url))) == (FailureKind.NEVER_SENT, "tls")


def test_a_certificate_that_the_system_trusts_is_accepted_for_its_own_name_only(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    with closing(Transport()) as transport, tls_server(certificate) as url:
        assert isinstance(reply_to(transport, post(url)), Response)
        other = post(url.replace("localhost", "127.0.0.1"))
        assert failed(reply_to(transport, other)) == (FailureKind.NEVER_SENT, "tls")
