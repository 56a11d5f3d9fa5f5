"""kombu's transport for `amqp://`, in which each answer of RabbitMQ has a time limit.

amqp waits without a limit for the confirm of a publish, for a new channel and for a declaration. A
node that stands still would hold a request of the API for ever, and so would an alarm of memory or
disk, in which RabbitMQ reads no more from the connections that publish. `celeryconfig` gives this
transport, and the one of `amqps`, to each program of the service.

    Silent    no answer came within the limit
    Blocked   RabbitMQ has said that it takes no messages from the connection

A blocked connection stays open. RabbitMQ would not see its end during the alarm, so a connection
for each attempt would pile up at the node. RabbitMQ says when the alarm ends.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from amqp.exceptions import (  # type: ignore[import-untyped]  # untyped
    MessageNacked,
    RecoverableConnectionError,
)
from kombu import Connection as KombuConnection
from kombu import Exchange, Queue
from kombu.transport import pyamqp

_ANSWER_SECONDS: Final = 2.0
"""Time limit of an answer on connections without the transport option `answer_within`."""
_PROBE: Final = "notify.probe"
"""A queue without a consumer. As a quorum queue it takes a message only with a majority of nodes,
as the lanes do; it keeps one message."""


class Blocked(RecoverableConnectionError):  # type: ignore[misc]  # amqp is untyped
    """RabbitMQ blocks its publishers: an alarm of memory or disk."""


class Silent(TimeoutError):
    """RabbitMQ gave no answer within the time limit."""


class Channel(pyamqp.Channel):
    """A channel that waits for the confirm of its own message, with a time limit.

    amqp takes any confirm for the one of the last message, so a late confirm would count for the
    next message.
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - kombu is untyped
        super().__init__(*args, **options)
        self._is_confirming = False
        self._published = 0
        self._confirmed = 0
        self._refused: set[int] = set()
        self.prefetch: Mapping[str, int] = {}
        """Most messages that the consumer of a queue may hold; else those of `basic_qos`."""
        self._prefetch = self._asked = 0
        self.events["basic_ack"].add(self._count)
        self.events["basic_nack"].add(self._count_refused)

    def basic_qos(self, size: int, count: int, *options: Any) -> None:  # noqa: ANN401 - kombu is untyped
        """Set how many messages each further consumer may hold."""
        super().basic_qos(size, count, *options)
        self._prefetch = self._asked = count

    def basic_consume(self, queue: str = "", *args: Any, **options: Any) -> Any:  # noqa: ANN401 - kombu is untyped
        """Start a consumer, which may hold as many messages as `prefetch` says."""
        count = self.prefetch.get(queue, self._asked)
        if count != self._prefetch:
            super().basic_qos(0, count, False)  # noqa: FBT003 - amqp's protocol: not of the channel
            self._prefetch = count
        return super().basic_consume(queue, *args, **options)

    def basic_publish_confirm(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - kombu is untyped
        """Publish a message and wait until RabbitMQ has it.

        Raises:
            Blocked: RabbitMQ blocks the connection.
            MessageNacked: a queue did not take the message.
            RecoverableConnectionError: the connection is closed.
            Silent: no confirm came within the time limit.
        """
        if self.connection is None:
            raise RecoverableConnectionError("the connection is closed")
        self.connection.check_unblocked()
        if not self._is_confirming:
            self.confirm_select()
            self._is_confirming = True
        options.pop("confirm_timeout", None)
        options["timeout"] = options.get("timeout") or self.connection.answer_within
        self._basic_publish(*args, **options)
        self._published += 1
        self._wait_for_confirm(self._published)

    def _wait_for_confirm(self, number: int) -> None:
        while self._confirmed < number:
            if self.connection is None:
                raise RecoverableConnectionError("the connection was closed")
            self.connection.drain_events()
            if self._confirmed < number and self.connection and self.connection.is_blocked:
                raise Blocked("the connection is blocked")
        if number in self._refused:
            self._refused.discard(number)
            raise MessageNacked

    def _count(self, number: int, _is_multiple: object) -> None:
        self._confirmed = max(self._confirmed, number)

    def _count_refused(self, number: int, is_multiple: object) -> None:
        first = self._confirmed + 1 if is_multiple else number
        self._refused.update(range(first, number + 1))
        self._count(number, is_multiple)


class Connection(pyamqp.Connection):
    """A connection with a time limit for answers.

    Args:
        answer_within: seconds, of each wait without a limit of its own.
    """

    Channel = Channel

    def __init__(self, *args: Any, answer_within: float = _ANSWER_SECONDS, **options: Any) -> None:  # noqa: ANN401 - kombu is untyped
        super().__init__(*args, **options)
        self.answer_within = answer_within
        self.is_blocked = False

    def drain_events(self, timeout: float | None = None) -> None:
        """Read until a message or an answer is complete.

        Raises:
            Silent: none came within `answer_within`, where the caller has no limit.
            TimeoutError: none came within the caller's limit.
        """
        if timeout is not None:
            super().drain_events(timeout)
            return
        try:
            super().drain_events(self.answer_within)
        except TimeoutError as silence:
            raise Silent(f"RabbitMQ gave no answer within {self.answer_within:g} s") from silence

    def check_unblocked(self) -> None:
        """Read whether RabbitMQ has ended the block, without a wait.

        Raises:
            Blocked: it has not.
        """
        with contextlib.suppress(TimeoutError):
            while self.is_blocked:
                self.drain_events(timeout=0)
        if self.is_blocked:
            raise Blocked("the connection is blocked")

    def _on_blocked(self) -> None:
        self.is_blocked = True

    def _on_unblocked(self) -> None:
        self.is_blocked = False


class PlainTransport(pyamqp.Transport):
    """A connection to RabbitMQ without TLS."""

    Connection = Connection


def drop_if_closed(link: KombuConnection) -> None:
    """Close a connection that the node has closed since the last use; the next use connects.

    Without this function the first message on each connection of a pool fails after a restart of
    the node. A connection of another broker stays as it is.
    """
    connection = link.connection if link.connected else None
    if not isinstance(connection, Connection):
        return
    try:
        while True:
            connection.drain_events(timeout=0)
    except TimeoutError:
        return  # the node has said nothing more
    except (*link.connection_errors, *link.channel_errors):
        link.collect()


def drop(link: KombuConnection) -> None:
    """Close a connection without a word to the node, which may not answer.

    kombu would wait for an answer to the end of the channel and to the end of the connection. A
    connection of another broker stays as it is.
    """
    if link.connected and isinstance(link.connection, Connection):
        link.collect()


class Probe:
    """Publishes to the queue `notify.probe` on one lasting connection."""

    def __init__(self, connect: Callable[[], KombuConnection]) -> None:
        """Remember how to connect; the first write connects."""
        self._connect = connect
        self._link: KombuConnection | None = None
        self._lock = threading.Lock()

    def write(self) -> None:
        """Publish a message and wait for the confirm.

        Raises:
            Blocked: RabbitMQ blocks the connection, which stays.
            Exception: another error of the client (`broker.errors`); the connection is closed.
        """
        with self._lock:
            try:
                channel = self._channel()
                channel.basic_publish(channel.prepare_message(b""), routing_key=_PROBE)
            except Blocked:
                raise
            except BaseException:
                self._close()
                raise

    def _channel(self) -> Any:  # noqa: ANN401 - kombu is untyped
        if self._link is None:
            self._link = self._connect()
            Queue(
                _PROBE,
                Exchange(""),
                routing_key=_PROBE,
                max_length=1,
                queue_arguments={"x-queue-type": "quorum"},
            ).bind(self._link.default_channel).declare()
        drop_if_closed(self._link)
        return self._link.default_channel

    def _close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.collect()
