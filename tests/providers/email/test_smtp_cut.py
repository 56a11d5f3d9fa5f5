"""A mail server whose connection ends before or after the content's final dot."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread

import pytest

from providers.contract import Accepted, Message, Outcome, Rejected, Unanswered, Unavailable
from tests.providers.email.test_smtp import adapter
from tests.providers.messages import message

END = b"\r\n.\r\n"
READ_BYTES = 100_000
"""Well below the size of the mail, which no buffer of the kernel holds."""


def large() -> Message:
    return message("maria@mailbox.example", body="A line of the mail.\n" * 500_000)


class Server:
    """Takes one mail; `end` decides what follows the answer to DATA."""

    def __init__(self, end: Callable[[socket.socket], bytes]) -> None:
        self._end = end
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = self._listener.getsockname()[1]
        self.content = b""
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError), self._listener.accept()[0] as link:
            link.sendall(b"220 cut\r\n")
            with link.makefile("rb", buffering=0) as lines:
                while line := lines.readline():
                    is_data = line.strip().upper() == b"DATA"
                    link.sendall(b"354 go on\r\n" if is_data else b"250 OK\r\n")
                    if is_data:
                        self.content = self._end(link)
                        return


@contextmanager
def serving(end: Callable[[socket.socket], bytes]) -> Iterator[Server]:
    server = Server(end)
    with closing(server):
        yield server


def up_to(size: int, link: socket.socket) -> bytes:
    content = b""
    while len(content) < size and (part := link.recv(4096)):
        content += part
    return content


def sent(server: Server, mail: Message, *, seconds: float = 30) -> Outcome:
    with closing(adapter(server.port, connections=1)) as smtp:
        (result,) = smtp.send([mail], deadline=timedelta(seconds=seconds))
    return result.outcome


def test_a_connection_that_ends_within_the_content_sent_nothing() -> None:
    with serving(lambda link: up_to(READ_BYTES, link)) as server:
        outcome = sent(server, large())
    assert outcome == Unavailable(code="cut")
    assert END not in server.content


def test_a_connection_that_ends_within_the_content_never_begins_the_message() -> None:
    begun: list[bool] = []
    mail = message("maria@mailbox.example", body=large().body, on_begin=lambda: begun.append(True))
    with serving(lambda link: up_to(READ_BYTES, link)) as server:
        sent(server, mail)
    assert not begun


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (b"552 5.3.4 too big\r\n", Rejected(code="552 5.3.4", detail="5.3.4 too big")),
        (b"421 closing\r\n", Unavailable(code="421", detail="closing")),
        (b"250 taken\r\n", Unavailable(code="cut")),
        (b"", Unavailable(code="cut")),
    ],
)
def test_a_refusal_within_the_content_is_read_after_the_connection_has_ended(
    reply: bytes, expected: Outcome
) -> None:
    def refuse(link: socket.socket) -> bytes:
        content = up_to(READ_BYTES, link)
        link.sendall(reply)
        return content

    with serving(refuse) as server:
        outcome = sent(server, large())
    assert outcome == expected
    assert END not in server.content


def test_a_server_that_stops_reading_the_content_sent_nothing() -> None:
    given_up = Event()

    def stop_reading(link: socket.socket) -> bytes:
        given_up.wait(60)
        return up_to(1 << 30, link)  # all that still comes

    with serving(stop_reading) as server:
        try:
            outcome = sent(server, large(), seconds=4)
        finally:
            given_up.set()
    assert outcome in {Unavailable(code="not_sent"), Unavailable(code="timeout")}
    assert END not in server.content


@pytest.mark.parametrize("body", ["Hi", large().body], ids=["small", "large"])
def test_a_connection_that_ends_after_the_final_dot_leaves_the_outcome_open(body: str) -> None:
    def read_to_the_dot(link: socket.socket) -> bytes:
        content = b""
        while not content.endswith(END) and (part := link.recv(65_536)):
            content = content[-len(END) :] + part
        return content

    with serving(read_to_the_dot) as server:
        outcome = sent(server, message("maria@mailbox.example", body=body))
    assert outcome == Unanswered(code="cut")
    assert server.content.endswith(END)


def test_a_line_of_one_dot_ends_no_content() -> None:
    def answer(link: socket.socket) -> bytes:
        content = b""
        while not content.endswith(END):
            content += link.recv(65_536)
        link.sendall(b"250 taken\r\n")
        return content

    with serving(answer) as server:
        outcome = sent(server, message("maria@mailbox.example", body="a\n.\nb"))
    assert isinstance(outcome, Accepted)
    assert server.content.count(END) == 1
