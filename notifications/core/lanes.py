"""Lanes: publishing to the broker, queue depths, and the order of consuming.

No other module publishes. Queues and tasks are addressed by name, so no decision imports a task. A
message has a list of delivery ids, or for due rows of P2 and P3 the number of rows that its task
may claim. A lost message loses no delivery, and a duplicate is harmless.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from uuid import UUID

from celery import current_app
from kombu import Connection, Producer, pools
from kombu.transport.redis import Channel as RedisChannel
from kombu.utils.scheduling import round_robin_cycle

from notifications.core import broker, rabbitmq
from notifications.core.rules.lane import Lane
from providers.contract import Channel

CHUNK: Final = 500
"""Maximum deliveries of a message of P2 and P3, which share Celery's cost of a message."""
URGENT_CHUNK: Final = 50
"""Maximum ids in a message of P0 and P1, because their lease is short."""
BrokerAway: Final = broker.Away
"""The broker took no message; unpublished rows stay due in Postgres."""

_paused: Final[set[str]] = set()
"""Paused queues: the process has more messages of these queues than free slots. Without the pause,
a backlog of one channel would be fetched and requeued, message by message."""
_NO_QUEUE: Final = "no-queue"
"""A list that no process writes, for a pop while all queues are paused."""
_PAUSED_POLL_SECONDS: Final = 0.1
"""Longest blocking pop while a queue is paused, and so the longest wait for a resumed queue."""
_polling: Final[list[tuple[RedisChannel, float]]] = []
"""The channel by which the process consumes on Redis, if any, and the usual limit of its pops."""
_setting: Final = threading.Lock()


def poll_by(channel: RedisChannel) -> None:
    """Name the channel by which the process consumes on Redis."""
    _polling[:] = [(channel, channel.connection.brpop_timeout)]
    _set_poll_seconds()


def pause_queue(name: str) -> None:
    """Stop consuming a queue until `resume_queues`; queues of P0 and P1 are never paused."""
    if WeightedOrder.rank(name, p3_first=False) >= _P2_RANK:
        _paused.add(name)
        _set_poll_seconds()


def resume_queues(parts: Collection[str]) -> None:
    """Resume paused queues by a part of the name, after a slot became free."""
    paused = _paused.copy()  # in one step of the interpreter: other threads pause queues meanwhile
    _paused.difference_update([
        name for name in paused if not set(parts).isdisjoint(name.split("."))
    ])
    _set_poll_seconds()


def _set_poll_seconds() -> None:
    """Set the time limit of the next blocking pops: a pop of other queues delays a resumed one."""
    with _setting:  # the last of two tasks sets what holds now
        for channel, usual in _polling:
            channel.brpop_timeout = min(usual, _PAUSED_POLL_SECONDS) if _paused else usual


class WeightedOrder(round_robin_cycle):
    """The order in which a worker consumes queues: P0, P1, then P2 and P3 at four to one.

    Within a priority, channels take turns; paused queues are skipped. The setting
    `celeryconfig.broker_transport_options` names the class; kombu creates an instance for each
    connection.
    """

    _TURNS: Final = 5

    def __init__(self, it: list[str] | None = None) -> None:
        """Create the order, as kombu calls it."""
        super().__init__(it)
        self._turn = 0

    def consume(self, n: int) -> list[str]:
        """Return queue names in order; kombu takes a message from the first non-empty queue."""
        p3_first = self._turn % self._TURNS == self._TURNS - 1
        names = self.items[:n]
        awake = [name for name in names if name not in _paused]
        if names and not awake:
            return [_NO_QUEUE]
        return sorted(awake, key=lambda name: self.rank(name, p3_first=p3_first))

    def rotate(self, last_used: str) -> str:
        """Record the queue of the last message."""
        if self.rank(last_used, p3_first=False) >= _P2_RANK:
            self._turn += 1
        rotated: str = super().rotate(last_used)
        return rotated

    @staticmethod
    def rank(name: str, *, p3_first: bool) -> int:
        """Return the rank of a queue; the lowest rank is consumed first."""
        priority = name.removeprefix("test.").partition(".")[0]
        if priority == "p3" and p3_first:
            return _P2_RANK - 1
        return _RANKS.get(priority, 0)


_P2_RANK: Final = 4
_P3_RANK: Final = 5
_RANKS: Final = {"p0": 0, "p1": 1, "p2": _P2_RANK, "p3": _P3_RANK}


def prefetch(queues: Collection[str], *, slots: int, patient: int) -> dict[str, int]:
    """Return how many messages of each queue a worker may hold on RabbitMQ.

    A message of P2 or P3 for which the worker has no slot ends unused, and the relay publishes
    another one a second later. RabbitMQ has no order between queues, and a worker runs its messages
    in the order of arrival. A worker that holds four messages of a P2 queue for each of a P3 queue
    also runs four for each; a worker with fewer than four slots runs a larger share of P3.

    Args:
        queues: the queues of the worker.
        slots: all slots of the worker.
        patient: the slots for P2 and P3 of one channel.
    """
    ranks = {name: WeightedOrder.rank(name, p3_first=False) for name in queues}
    is_shared = {_P2_RANK, _P3_RANK} <= set(ranks.values())
    bulk = max(1, patient // 4) if is_shared else patient
    shares = {_P2_RANK: patient, _P3_RANK: bulk}
    return {name: shares.get(rank, slots) for name, rank in ranks.items()}


def task_name(channel: Channel) -> str:
    """Return the name of the channel's task."""
    return f"deliver_{channel.label}"


def describe(lane: str, count: int) -> str:
    """Return Flower's text for a task's arguments: `p1.push, 37 deliveries`."""
    return f"{lane}, {count} deliver{'y' if count == 1 else 'ies'}"


@contextmanager
def lent_producer() -> Iterator[Producer]:
    """Lend a producer of the process, whose answers have a time limit; an error closes it.

    Raises:
        LimitExceeded: the other threads used all producers for a second.
    """
    with pools.producers[broker.connection()].acquire(block=True, timeout=1) as producer:
        rabbitmq.drop_if_closed(producer.connection)
        try:
            yield producer
        except BaseException:
            rabbitmq.drop(producer.connection)
            raise


class LaneMessage(NamedTuple):
    """The work of a lane's message: up to `rows` due deliveries with ids of a range."""

    rows: int
    floor: str
    """The first id, as hexadecimal digits."""
    ceiling: str
    """The end of the range, without this id."""

    @property
    def span(self) -> dict[str, UUID]:
        """The range, as in `store.postgres.id_ranges`."""
        return {"floor": UUID(self.floor), "ceiling": UUID(self.ceiling)}


def publish(lane: Lane, delivery_ids: Iterable[Sequence[UUID]]) -> None:
    """Publish lists of ids on the lane's queue, as a message for each list.

    Raises:
        BrokerAway: at least one message was not published. While the broker is known to be away, no
            attempt is made.
    """
    _send(lane, (([each.hex for each in chunk],) for chunk in delivery_ids))


def publish_lane_messages(lane: Lane, messages: Iterable[tuple[Mapping[str, UUID], int]]) -> None:
    """Publish messages of a P2 or P3 lane, each for so many due rows of a range.

    Raises:
        BrokerAway: as `publish`.
    """
    due = (LaneMessage(rows, span["floor"].hex, span["ceiling"].hex) for span, rows in messages)
    _send(lane, (([], each) for each in due))


def _send(lane: Lane, messages: Iterable[tuple[list[str]] | tuple[list[str], LaneMessage]]) -> None:
    if not broker.takes_messages():
        raise BrokerAway
    try:
        with lent_producer() as producer:
            for ids, *due in messages:
                current_app.send_task(
                    task_name(lane.channel),
                    args=[ids, *due],
                    queue=lane.name,
                    producer=producer,
                    retry=False,
                    argsrepr=f"{lane.name}, up to {due[0].rows} deliveries"
                    if due
                    else describe(lane.name, len(ids)),
                    kwargsrepr="",
                )
    except broker.errors() as error:
        broker.record_failure(error)
        raise BrokerAway from error


def chunks(delivery_ids: Sequence[UUID], *, most: int = URGENT_CHUNK) -> list[Sequence[UUID]]:
    """Split a list into messages of at most `most` ids."""
    return [delivery_ids[start : start + most] for start in range(0, len(delivery_ids), most)]


def depths(names: Sequence[str]) -> dict[str, int]:
    """Return the number of ready messages by queue, without messages held by a worker.

    Raises:
        BrokerAway: the broker did not answer.
    """
    if not broker.takes_messages():
        raise BrokerAway
    quick = broker.connection()
    try:
        with pools.connections[quick].acquire(block=True, timeout=1) as connection:
            # Reconnect: after an error kombu's pool keeps the closed connection.
            connection.ensure_connection(max_retries=1, interval_start=0)
            with connection.channel() as channel:
                if isinstance(channel, RedisChannel):
                    return _lengths(channel, names)
                return {name: _depth_of_queue(connection, name) for name in names}
    except broker.errors() as error:
        broker.record_failure(error)
        raise BrokerAway from error


def _lengths(channel: RedisChannel, names: Sequence[str]) -> dict[str, int]:
    """Return the lengths of kombu's lists on Redis, in one round trip.

    A passive declaration does not work: kombu 5.7.0 asks `EXISTS` without the global key prefix
    (`transport/redis.py`, `_has_queue`) and finds no queue.
    """
    with channel.conn_or_acquire() as client, client.pipeline(transaction=False) as together:
        for name in names:
            together.llen(name)
        found = together.execute()
    return dict(zip(names, map(int, found), strict=True))


def _depth_of_queue(connection: Connection, name: str) -> int:
    try:
        # Use a new channel, because RabbitMQ closes a channel after a queue was not found.
        with connection.channel() as channel:
            waiting: int = channel.queue_declare(name, passive=True).message_count
    except connection.channel_errors:
        return 0  # the queue does not exist, so no message waits
    return waiting
