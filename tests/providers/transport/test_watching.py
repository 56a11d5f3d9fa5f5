"""The loop waits for each wanted socket, also for one with the number of a closed socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pycurl
import pytest

from providers.transport.watching import Watching

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def watching() -> Iterator[Watching]:
    made = Watching()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def want(watching: Watching, descriptor: int, events: int) -> None:
    watching.follow(events, descriptor, None, None)


def put_down(watching: Watching, descriptor: int) -> None:
    watching.follow(pycurl.POLL_REMOVE, descriptor, None, None)


def ready(watching: Watching, *, within: float = 0) -> list[int]:
    return [descriptor for descriptor, _ in watching.wait(within)]


def test_what_was_put_down_is_not_told_of_and_can_be_wanted_again(
    watching: Watching, pair: Pair
) -> None:
    ours, theirs = pair
    for _ in range(3):
        want(watching, ours.fileno(), pycurl.POLL_IN)
        theirs.send(b"x")
        assert ready(watching, within=30) == [ours.fileno()]
        put_down(watching, ours.fileno())
        assert ready(watching) == []


def test_what_is_wanted_changes(watching: Watching, pair: Pair) -> None:
    ours, theirs = pair
    want(watching, ours.fileno(), pycurl.POLL_OUT)
    assert ready(watching) == [ours.fileno()]
    put_down(watching, ours.fileno())
    want(watching, ours.fileno(), pycurl.POLL_IN)
    assert ready(watching) == []
    theirs.close()
    assert ready(watching, within=30) == [ours.fileno()]


@pytest.mark.parametrize("heard", [True, False])
def test_another_socket_under_the_same_number_is_waited_for(
    watching: Watching, pair: Pair, *, heard: bool
) -> None:
    ours, _ = pair
    number = ours.fileno()
    want(watching, number, pycurl.POLL_IN)
    put_down(watching, number)
    next_one, its_peer = socket.socketpair()
    with next_one, its_peer:
        if heard:
            pair[1].close()
            assert ready(watching) == []
        os.dup2(next_one.fileno(), number)
        want(watching, number, pycurl.POLL_IN)
        its_peer.send(b"x")
        assert ready(watching, within=30) == [number]


def test_what_was_closed_before_it_was_put_down_is_forgotten(
    watching: Watching, pair: Pair
) -> None:
    ours, _ = pair
    number = ours.fileno()
    want(watching, number, pycurl.POLL_IN)
    ours.close()
    put_down(watching, number)
    assert ready(watching) == []


def test_a_released_socket_that_the_server_closes_is_no_event_and_no_error(
    watching: Watching, pair: Pair
) -> None:
    ours, theirs = pair
    want(watching, ours.fileno(), pycurl.POLL_IN)
    put_down(watching, ours.fileno())
    theirs.close()
    assert ready(watching, within=30) == []
    put_down(watching, ours.fileno())
    want(watching, ours.fileno(), pycurl.POLL_IN)
    assert ready(watching, within=30) == [ours.fileno()]


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_socket_that_is_closed_here_and_open_in_a_forked_process_has_no_endless_events(
    watching: Watching, pair: Pair, *, is_taken: bool
) -> None:
    ours, theirs = pair
    number = ours.fileno()
    with ExitStack() as ends:
        next_one, its_peer = map(ends.enter_context, socket.socketpair())
        ends.callback(os.close, os.dup(number))  # the socket of the forked process
        watching.listen(next_one.fileno())
        want(watching, number, pycurl.POLL_IN)
        put_down(watching, number)
        ours.close()
        theirs.close()
        if is_taken:
            ends.callback(os.close, os.dup2(next_one.fileno(), number))
            want(watching, number, pycurl.POLL_IN)
            put_down(watching, number)
        assert [ready(watching) for _ in range(3)] == [[], [], []]
        its_peer.send(b"x")
        assert ready(watching, within=30) == [next_one.fileno()]


def test_a_socket_under_the_number_of_a_socket_of_a_forked_process_has_its_own_events_alone(
    watching: Watching, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pair
    number = ours.fileno()
    monkeypatch.setattr(Watching, "has_forked", True)
    with ExitStack() as ends:
        next_one, its_peer = map(ends.enter_context, socket.socketpair())
        ends.callback(os.close, os.dup(number))  # the socket of the forked process
        want(watching, number, pycurl.POLL_IN)
        put_down(watching, number)
        ours.close()
        ends.callback(os.close, os.dup2(next_one.fileno(), number))
        want(watching, number, pycurl.POLL_IN)
        theirs.close()
        assert ready(watching) == []
        its_peer.send(b"x")
        assert ready(watching, within=30) == [number]
