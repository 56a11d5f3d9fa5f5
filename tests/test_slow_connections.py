"""Which connections are shut down: decided from the kernel's counters, second by second."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from notifications.conf import Web
from notifyproj.connections import Counters, Judge, Peer, Reason, Watch

LIMITS = Web(request_seconds=10, rate=1_000, connections_per_address=3)
PEER: Peer = ("192.0.2.1", 40_000)


class Connection:
    """One connection, and what the judge says of it after each second."""

    def __init__(self, peer: Peer = PEER, limits: Web = LIMITS) -> None:
        self.judge = Judge(limits)
        self.peer = peer
        self.now = 0.0
        self.counters = Counters(received=0, sent=0, acked=0, waiting=0)

    def passes(
        self, seconds: int, *, received: int = 0, sent: int = 0, acked: int = 0, waiting: int = 0
    ) -> Reason | None:
        """So many seconds, in each of which these bytes come and go; the last verdict."""
        verdict = None
        for _ in range(seconds):
            self.now += 1
            before = self.counters
            self.counters = Counters(
                received=before.received + received,
                sent=before.sent + sent,
                acked=before.acked + acked,
                waiting=waiting,
            )
            found = self.judge.judge({self.peer: self.counters}, now=self.now)
            verdict = verdict or found.get(self.peer)
        return verdict


def test_an_idle_connection_is_closed_later_than_the_server_closes_it() -> None:
    client = Connection()
    assert client.passes(LIMITS.head_seconds + LIMITS.request_seconds) is None
    assert client.passes(3) is Reason.IDLE


def test_half_a_request_behind_a_whole_one_is_not_waited_for_without_end() -> None:
    client = Connection()
    client.passes(1, received=600)
    client.passes(1, sent=500, acked=500)
    assert client.passes(40) is Reason.IDLE


def test_a_request_that_came_may_take_long_to_answer() -> None:
    client = Connection()
    client.passes(1, received=100_000)
    assert client.passes(100) is None
    assert client.passes(20) is Reason.SLOW_REQUEST


def test_a_request_that_stops_coming_is_cut_off() -> None:
    client = Connection()
    assert client.passes(1, received=300) is None
    assert client.passes(9) is None
    assert client.passes(3) is Reason.SLOW_REQUEST


def test_a_second_request_on_a_connection_is_watched_too() -> None:
    client = Connection()
    client.passes(1, received=300)
    client.passes(1, sent=500, acked=500)
    assert client.passes(20) is None
    client.passes(1, received=10)
    assert client.passes(9) is None
    assert client.passes(3) is Reason.SLOW_REQUEST


def test_requests_that_are_answered_are_left_alone() -> None:
    client = Connection()
    for _ in range(100):
        assert client.passes(2, received=300) is None
        assert client.passes(1, received=300, sent=500, acked=500) is None


@pytest.mark.parametrize(
    ("rate", "verdict"), [(500, Reason.SLOW_REQUEST), (1, Reason.SLOW_REQUEST), (1_100, None)]
)
def test_a_body_must_come_at_a_rate(rate: int, verdict: Reason | None) -> None:
    assert Connection().passes(500, received=rate) is verdict


@pytest.mark.parametrize(
    ("rate", "verdict"), [(0, Reason.SLOW_READER), (900, Reason.SLOW_READER), (1_100, None)]
)
def test_an_answer_must_be_read_at_a_rate(rate: int, verdict: Reason | None) -> None:
    client = Connection()
    client.passes(1, received=300)
    client.passes(1, sent=100_000)
    assert client.passes(60, sent=rate, acked=rate, waiting=5_000) is verdict


def test_an_address_keeps_its_oldest_connections() -> None:
    judge = Judge(LIMITS)
    idle = Counters(received=0, sent=0, acked=0, waiting=0)
    old: list[Peer] = [("192.0.2.1", port) for port in range(3)]
    assert not judge.judge(dict.fromkeys(old, idle), now=1)
    new: list[Peer] = [("192.0.2.1", 9), ("192.0.2.2", 9)]
    assert judge.judge(dict.fromkeys([new[0], *old, new[1]], idle), now=2) == {
        new[0]: Reason.TOO_MANY
    }


def test_one_network_of_ipv6_is_one_address() -> None:
    idle = Counters(received=0, sent=0, acked=0, waiting=0)
    peers: list[Peer] = [(f"2001:db8:0:1::{host:x}", 1) for host in range(4)]
    assert len(Judge(LIMITS).judge(dict.fromkeys(peers, idle), now=1)) == 1
    apart: list[Peer] = [(f"2001:db8:0:{net}::1", 1) for net in range(4)]
    assert not Judge(LIMITS).judge(dict.fromkeys(apart, idle), now=1)


def test_a_trusted_proxy_may_hold_any_number_of_connections() -> None:
    limits = Web(connections_per_address=3, trusted_proxies=(ip_network("192.0.2.0/24"),))
    idle = Counters(received=0, sent=0, acked=0, waiting=0)
    peers: list[Peer] = [("192.0.2.1", port) for port in range(50)]
    assert not Judge(limits).judge(dict.fromkeys(peers, idle), now=1)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection of this process to itself: the client's end and the server's."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        server, _ = listening.accept()
        with client, server:
            yield client, server


def test_the_accepted_end_is_found_and_shut_down(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, server = pair
    now = 0.0
    monkeypatch.setattr("notifications.clock.monotonic", lambda: now)
    watch = Watch(Web(request_seconds=10))
    client.sendall(b"POST / HTTP/1.1\r\n")
    server.recv(100)
    assert not watch.look()
    now = 11.0
    assert watch.look() == {Reason.SLOW_REQUEST: 1}
    assert client.recv(1) == b""
