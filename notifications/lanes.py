"""The broker's side of a lane: publishing ids, and asking how much waits.

This is the only module that publishes. It names a queue and a task by their names, so nothing that
decides imports a task. A message is a list of delivery ids: losing it loses nothing, and two with
the same ids do no harm.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

from celery import current_app
from kombu import Connection, pools
from kombu.transport.redis import Channel as RedisChannel
from kombu.utils.scheduling import round_robin_cycle

from notifications import broker
from notifications.rules.lane import Lane
from providers.contract import Channel

CHUNK: Final = 500
"""Ids a message.

Celery's cost of one message is shared by this many, and a wave of calls has work.
"""
URGENT_CHUNK: Final = 50
"""Ids a message of P0 and P1: a short lease must see all of them called."""
BrokerAway: Final = broker.Away
"""The broker took nothing; what was to be published is still due in Postgres."""

_resting: Final[set[str]] = set()
"""Queues that this process does not ask now: it has more of their messages than slots for them.
Without it a backlog of one channel would circle through the worker, message by message."""


def rest(name: str) -> None:
    """Do not ask this queue until it is woken; urgent ones are always asked."""
    if WeightedOrder.rank(name, p3_first=False) >= _P2_RANK:
        _resting.add(name)


def wake(parts: Collection[str]) -> None:
    """A slot is free: ask all queues again that have one of these parts in their names."""
    _resting.difference_update([
        name for name in _resting if not set(parts).isdisjoint(name.split("."))
    ])


class WeightedOrder(round_robin_cycle):
    """The order in which a worker asks its queues: P0, P1, then P2 and P3 at four to one.

    Within a priority the channel served last goes to the end, so channels take turns; one that is
    resting is left out. Named in `celeryconfig.broker_transport_options`; kombu makes one per
    connection.
    """

    _TURNS: Final = 5

    def __init__(self, it: list[str] | None = None) -> None:
        """Kombu's protocol."""
        super().__init__(it)
        self._turn = 0

    def consume(self, n: int) -> list[str]:
        """The queues in the order to be asked now; the first that has a message gives it."""
        p3_first = self._turn % self._TURNS == self._TURNS - 1
        awake = [name for name in self.items[:n] if name not in _resting]
        return sorted(awake or self.items[:n], key=lambda name: self.rank(name, p3_first=p3_first))

    def rotate(self, last_used: str) -> str:
        """A message came from this queue."""
        if self.rank(last_used, p3_first=False) >= _P2_RANK:
            self._turn += 1
        rotated: str = super().rotate(last_used)
        return rotated

    @staticmethod
    def rank(name: str, *, p3_first: bool) -> int:
        """Where a queue stands; low is asked first."""
        priority = name.removeprefix("test.").partition(".")[0]
        if priority == "p3" and p3_first:
            return _P2_RANK - 1
        return _RANKS.get(priority, 0)


_P2_RANK: Final = 4
_RANKS: Final = {"p0": 0, "p1": 1, "p2": _P2_RANK, "p3": _P2_RANK + 1}


def task_name(channel: Channel) -> str:
    """Return the name of the task that delivers on this channel."""
    return f"deliver_{channel.label}"


def described(lane: str, count: int) -> str:
    """Return what Flower shows instead of a task's arguments: `p1.push, 37 deliveries`."""
    return f"{lane}, {count} deliver{'y' if count == 1 else 'ies'}"


def publish(lane: Lane, delivery_ids: Iterable[Sequence[UUID]]) -> None:
    """Publish each of these lists as one message on the lane's queue.

    Raises:
        BrokerAway: at least one was not published. While the broker is known to be away, nothing is
            tried and no time is spent.
    """
    if not broker.takes_messages():
        raise BrokerAway
    try:
        with pools.producers[broker.connection()].acquire(block=True, timeout=1) as producer:
            for chunk in delivery_ids:
                current_app.send_task(
                    task_name(lane.channel),
                    args=[[each.hex for each in chunk]],
                    queue=lane.name,
                    producer=producer,
                    retry=False,
                    argsrepr=described(lane.name, len(chunk)),
                    kwargsrepr="",
                )
    except broker.errors() as error:
        broker.failed()
        raise BrokerAway from error


def chunk_size(lane: Lane) -> int:
    """Ids that one message of this lane holds at most."""
    return URGENT_CHUNK if lane.priority.is_urgent else CHUNK


def chunks(delivery_ids: Sequence[UUID], *, lane: Lane, most: int = CHUNK) -> list[Sequence[UUID]]:
    """Cut a list into messages of at most `most` ids."""
    size = min(chunk_size(lane), most)
    return [delivery_ids[start : start + size] for start in range(0, len(delivery_ids), size)]


def depths(names: Sequence[str]) -> dict[str, int]:
    """Messages ready in each queue; those that a worker holds and has not acknowledged are not.

    Raises:
        BrokerAway: it did not answer.
    """
    if not broker.takes_messages():
        raise BrokerAway
    quick = broker.connection()
    try:
        with pools.connections[quick].acquire(block=True, timeout=1) as connection:
            # After an error kombu's pool keeps the closed connection, and a channel fails on it.
            connection.ensure_connection(max_retries=1, interval_start=0)
            with connection.channel() as channel:
                if isinstance(channel, RedisChannel):
                    return _lengths(channel, names)
                return {name: _declared_depth(connection, name) for name in names}
    except broker.errors() as error:
        broker.failed()
        raise BrokerAway from error


def _lengths(channel: RedisChannel, names: Sequence[str]) -> dict[str, int]:
    """Of kombu's lists on Redis, in one round trip.

    A passive declaration asks `EXISTS` without the global key prefix (kombu 5.7.0,
    `transport/redis.py`, `_has_queue`), so it finds no queue at all.
    """
    with channel.conn_or_acquire() as client, client.pipeline(transaction=False) as together:
        for name in names:
            together.llen(name)
        found = together.execute()
    return dict(zip(names, map(int, found), strict=True))


def _declared_depth(connection: Connection, name: str) -> int:
    try:
        # A channel of its own: RabbitMQ closes the channel on which a queue was not found.
        with connection.channel() as channel:
            waiting: int = channel.queue_declare(name, passive=True).message_count
    except connection.channel_errors:
        return 0  # no such queue, so nothing waits in it
    return waiting
