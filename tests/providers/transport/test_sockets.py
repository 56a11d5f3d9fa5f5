"""Descriptors that libcurl has closed and another thread uses meanwhile."""

from __future__ import annotations

import math
import os
import socket
import tempfile

import pytest

from providers.transport.easy import Easy
from providers.transport.origin import USUAL
from providers.transport.sockets import Sockets, Turn
from tests.providers.sending import post


def test_a_closed_connection_is_found_by_its_port_and_stays_open() -> None:
    sockets = Sockets()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            sockets.record_socket(client.fileno())
            assert sockets.take_turn(client.getsockname()[1]) is Turn.FIRST
            peer, _ = server.accept()
            peer.close()
            client.recv(1)
            assert sockets.take_turn(client.getsockname()[1]) is Turn.CLOSED
            os.fstat(client.fileno())


def test_a_unix_socket_under_a_closed_number_stays_open() -> None:
    sockets = Sockets()
    one, other = socket.socketpair()
    with one, other:
        sockets.record_socket(one.fileno())
        assert sockets.take_turn(443) is not Turn.CLOSED
        one.sendall(b"x")
        assert other.recv(1) == b"x"


def test_a_file_or_nothing_under_a_closed_number_is_no_socket() -> None:
    sockets = Sockets()
    with tempfile.TemporaryFile() as file:
        sockets.record_socket(file.fileno())
        assert sockets.take_turn(443) is not Turn.CLOSED
        file.write(b"x")
        file.flush()
        closed = os.dup(file.fileno())
    os.close(closed)
    sockets.record_socket(closed)
    assert sockets.take_turn(443) is not Turn.CLOSED


@pytest.mark.parametrize("answered", [True, False])
def test_requests_wait_for_the_first_answer_of_a_connection(*, answered: bool) -> None:
    sockets = Sockets()
    assert [sockets.take_turn(443) for _ in range(2)] == [Turn.FIRST, Turn.EARLY]
    sockets.record_first(443, answered=answered)
    assert sockets.take_turn(443) is (Turn.LATER if answered else Turn.FIRST)


def test_the_begin_of_the_first_answer_lets_further_requests_pass() -> None:
    sockets = Sockets()
    first, second = Easy(sockets), Easy(sockets)
    for handle in (first, second):
        handle.begin(post("http://127.0.0.1/"), USUAL, ends_at=math.inf)
    ends = ("127.0.0.1", "127.0.0.1", 80, 40_000)
    assert (first._before_request(*ends), second._before_request(*ends)) == (0, 1)
    assert second.came_early
    first._write(b"{")
    assert second._before_request(*ends) == 0
