"""Descriptors that libcurl has closed and another thread uses meanwhile."""

from __future__ import annotations

import os
import socket
import tempfile

from providers.transport.sockets import Sockets


def test_a_closed_connection_is_found_by_its_port_and_stays_open() -> None:
    sockets = Sockets()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            sockets.record_socket(client.fileno())
            assert not sockets.is_closed(client.getsockname()[1])
            peer, _ = server.accept()
            peer.close()
            client.recv(1)
            assert sockets.is_closed(client.getsockname()[1])
            os.fstat(client.fileno())


def test_a_unix_socket_under_a_closed_number_stays_open() -> None:
    sockets = Sockets()
    one, other = socket.socketpair()
    with one, other:
        sockets.record_socket(one.fileno())
        assert not sockets.is_closed(443)
        one.sendall(b"x")
        assert other.recv(1) == b"x"


def test_a_file_or_nothing_under_a_closed_number_is_no_socket() -> None:
    sockets = Sockets()
    with tempfile.TemporaryFile() as file:
        sockets.record_socket(file.fileno())
        assert not sockets.is_closed(443)
        file.write(b"x")
        file.flush()
        closed = os.dup(file.fileno())
    os.close(closed)
    sockets.record_socket(closed)
    assert not sockets.is_closed(443)
