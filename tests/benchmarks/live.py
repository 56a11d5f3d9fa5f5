"""[sse_fanout] and [sse_memory]: one live process with thousands of streams.

sse_fanout: 5,000 recipients have one stream each. The store adds one item for each recipient, in
transactions of 500 recipients as a worker does. The number is the time from the call of the store
until the event is in the socket of the stream, which includes the commit; the notes have the time
without it, and the time for the twenty streams of one recipient.

sse_memory: the proportional memory that 10,000 idle streams of 10,000 recipients add to the
process, in KiB for each.

The clients are plain sockets of the process of the benchmark, on the same machine.
"""

from __future__ import annotations

import resource
import select
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks import costs
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

if TYPE_CHECKING:
    from tests.benchmarks.live_people import Listener

_STREAMS: Final = 5_000
_IDLE: Final = 10_000
_OF_ONE: Final = 20
_OF_TRANSACTION: Final = 500
_ROUNDS: Final = 5
_SETTLE_SECONDS: Final = 3.0
_PATIENCE_SECONDS: Final = 120.0
_BESIDE: Final = 1_000
_WAITING_CONNECTIONS: Final = 200
_pause: Final = threading.Event()


def measure_fanout(stage: Stage) -> Figure:
    """Time from the event to the sockets of its recipients."""
    count = stage.size(_STREAMS)
    with _process(stage, count), _make_people(count + 1) as people:
        *each, one = people
        with _streams(stage, each) as streams:
            _pause.wait(_SETTLE_SECONDS)
            whole, after = _fan_out(each, streams)
        with _streams(stage, [one] * _OF_ONE) as streams:
            shared = [each for _ in range(_ROUNDS) for each in _fan_out([one], streams)[0]]
    return Figure(
        name="sse_fanout",
        value=_percentile(whole, 0.99),
        unit=f"ms, p99 from the event to {count:,} listeners' sockets",
        notes=(
            f"{_ROUNDS} rounds of {count:,} recipients with a stream and an event each",
            f"from the call of the store: {_shown(whole)}",
            f"from the end of the transaction of 500 items: {_shown(after)}",
            f"{_OF_ONE} streams of one recipient: {_shown(shared)}",
        ),
    )


def measure_memory(stage: Stage) -> Figure:
    """Memory of idle streams."""
    count = stage.size(_IDLE)
    with _process(stage, count), _make_people(count) as people:
        # The first streams load what the process needs once.
        with _streams(stage, people[:200]):
            _pause.wait(_SETTLE_SECONDS)
        before = _memory(stage)
        began = time.perf_counter()
        with _streams(stage, people):
            opened = time.perf_counter() - began
            _pause.wait(_SETTLE_SECONDS)
            after = _memory(stage)
            meter = costs.Meter()
            with costs.measured({"live": stage.components()["live"]}, into=meter):
                _pause.wait(_SETTLE_SECONDS * 5)
    return Figure(
        name="sse_memory",
        value=(after - before) / count,
        unit=f"KiB a connection, {count:,} idle connections",
        notes=(
            f"the process: {before / 1024:.0f} MiB before, {after / 1024:.0f} MiB with them",
            f"{count / opened:.0f} connections a second until `hello`",
            f"{meter.seconds['live'] / _SETTLE_SECONDS / 5:.1%} of a processor for heartbeats",
        ),
    )


@contextmanager
def _process(stage: Stage, count: int) -> Iterator[None]:
    """Run the live process with room for so many streams."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + _BESIDE)), hard))
    with stage.settings(NOTIFY_LIVE_CONNECTIONS=str(count + _BESIDE)):
        stage.run(["live"])
        yield
        stage.run(())


def _make_people(count: int) -> AbstractContextManager[list[Listener]]:
    from tests.benchmarks import live_people  # noqa: PLC0415 - its models need Django set up

    return live_people.people(count)


@contextmanager
def _streams(stage: Stage, people: Sequence[Listener]) -> Iterator[dict[socket.socket, int]]:
    """Open a stream for each, wait for `hello`, and yield the recipient of each socket."""
    found: dict[socket.socket, int] = {}
    try:
        for start in range(0, len(people), _WAITING_CONNECTIONS):
            part = {
                _open(stage.ports.live, each): each.pk
                for each in people[start : start + _WAITING_CONNECTIONS]
            }
            found |= part
            for each in part:
                _read_until(each, b"event: hello")
        yield found
    finally:
        for each in found:
            each.close()


def _open(port: int, person: Listener) -> socket.socket:
    stream = socket.create_connection((LOOPBACK, port), timeout=_PATIENCE_SECONDS)
    head = "GET /v1/inbox/me/stream HTTP/1.1\r\nHost: live\r\nLast-Event-ID: 0\r\n"
    stream.sendall(f"{head}Authorization: Bearer {person.token}\r\n\r\n".encode())
    return stream


def _read_until(stream: socket.socket, text: bytes) -> None:
    found = b""
    while text not in found:
        part = stream.recv(65_536)
        if not part:
            raise ConnectionError(found[:300].decode())
        found += part


def _fan_out(
    people: Sequence[Listener], streams: Mapping[socket.socket, int]
) -> tuple[list[float], list[float]]:
    """Add an item for each recipient; returns milliseconds with and without the commit."""
    from tests.benchmarks import live_people  # noqa: PLC0415 - its models need Django set up

    whole: list[float] = []
    after: list[float] = []
    for _ in range(_ROUNDS):
        arrivals: dict[socket.socket, float] = {}
        reader = threading.Thread(target=_await_events, args=(streams, arrivals))
        reader.start()
        begun: dict[int, float] = {}
        ended: dict[int, float] = {}
        for start in range(0, len(people), _OF_TRANSACTION):
            part = people[start : start + _OF_TRANSACTION]
            begin = time.perf_counter()
            live_people.add(part)
            end = time.perf_counter()
            for each in part:
                begun[each.pk], ended[each.pk] = begin, end
        reader.join(_PATIENCE_SECONDS)
        if len(arrivals) < len(streams):
            raise TimeoutError(f"{len(streams) - len(arrivals)} streams got no event")
        whole += [(at - begun[streams[each]]) * 1e3 for each, at in arrivals.items()]
        after += [max(0.0, at - ended[streams[each]]) * 1e3 for each, at in arrivals.items()]
        _pause.wait(_SETTLE_SECONDS)
    return whole, after


def _await_events(
    streams: Mapping[socket.socket, int], arrivals: dict[socket.socket, float]
) -> None:
    """Note the time at which each stream has its event; heartbeats do not count."""
    by_number = {each.fileno(): each for each in streams}
    with select.epoll() as watch:
        for number in by_number:
            watch.register(number, select.EPOLLIN)
        deadline = time.perf_counter() + _PATIENCE_SECONDS
        while len(arrivals) < len(streams) and time.perf_counter() < deadline:
            for number, _ in watch.poll(1.0):
                stream = by_number[number]
                if b"event: changes" in stream.recv(65_536):
                    arrivals.setdefault(stream, time.perf_counter())


def _memory(stage: Stage) -> float:
    """Proportional memory of the live process in KiB."""
    return costs.memory({"live": stage.components()["live"]})["live"] * 1024


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _shown(values: Sequence[float]) -> str:
    return f"median {_percentile(values, 0.5):.0f} ms, p99 {_percentile(values, 0.99):.0f} ms"
