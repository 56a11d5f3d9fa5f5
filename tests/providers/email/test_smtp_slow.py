"""A mail server that answers a byte at a time, which no timeout of a read ends."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta
from threading import Event, Thread

import pytest

from providers.contract import Unavailable
from tests.providers.email.test_smtp import adapter
from tests.providers.messages import message


def drip(listener: socket.socket, first: bytes, ended: Event) -> None:
    """Answer each connection with `first`, and then with a byte of an endless line every 0.1 s."""
    while not ended.is_set():
        with suppress(OSError):
            link, _ = listener.accept()
            with link:
                link.sendall(first)
                while not ended.wait(0.1):
                    link.sendall(b"2")


@pytest.fixture(params=[b"", b"220 slow\r\n"], ids=["greeting", "EHLO"])
def dripping_port(request: pytest.FixtureRequest) -> Iterator[int]:
    """Start a server that never ends a line, and never lets a read time out."""
    ended = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=drip, args=(listener, request.param, ended))
        thread.start()
        yield listener.getsockname()[1]
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_check_of_a_server_that_answers_a_byte_at_a_time_ends(dripping_port: int) -> None:
    with closing(adapter(dripping_port)) as smtp:
        [finding] = smtp.check(deadline=timedelta(seconds=1))
    assert not finding.is_good
    assert finding.detail == "TimeoutError"


def test_a_mail_to_a_server_that_answers_a_byte_at_a_time_frees_its_thread(
    dripping_port: int,
) -> None:
    smtp = adapter(dripping_port, connections=1)
    sent = message("maria@mailbox.example")
    (result,) = smtp.send([sent], deadline=timedelta(seconds=1))
    assert result.outcome in {Unavailable(code="timeout"), Unavailable(code="not_sent")}
    smtp.close()  # waits for the thread
