"""The consumer of a worker (`celeryconfig.worker_consumer`), which survives the loss of the broker.

* Celery 5.7 with kombu 5.7 ends the process in two cases: a busy worker loses Redis ("Unrecoverable
  error: AttributeError 'NoneType' object has no attribute 'hostname'", raised while unacknowledged
  messages are returned), and Redis refuses a write ("OOM command not allowed"). The consumer
  catches both errors: the rows are due in Postgres.
* The consumer reconnects within two seconds of the broker's return; Celery waits up to thirty.
* kombu acknowledges the messages of a `no_ack` queue on Redis too, with four commands each. The
  consumer marks these messages, so that `Message.ack` does nothing.
* On RabbitMQ the consumer limits the messages of each queue in the process (`lanes.prefetch`). On
  Redis it asks for messages more often while a queue is paused (`lanes.pause_queue`).
* The consumer connects after the process has reached its database for the first time. Until then
  the worker answers no `inspect ping`, so that an orchestrator keeps the worker of the release
  before.
* `is_connected` tells `direct` when to take work from Postgres. A quorum queue without a leader
  answers no consumer, and RabbitMQ refuses a queue that another connection holds, so the worker
  connects again and again and never consumes: from the fourth second on it counts as not connected.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import structlog
from celery.worker import consumer
from celery.worker.state import maybe_shutdown
from kombu.transport.redis import Channel as RedisChannel
from redis.exceptions import RedisError

from notifications.core import lanes, rabbitmq
from notifications.core.store.postgres import host_clock
from notifications.core.tasks.deliver import SLOTS

_log = structlog.get_logger(__name__)
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 2.0
"""Maximum seconds between two attempts to reconnect."""
_START_SECONDS: Final = 3.0
"""Time for a connection to consume, the time of lost connections before it included."""
_NO_ACK: Final = "no_ack"
"""A consumer tag: `Message.ack` does nothing for the tags in `Channel.no_ack_consumers`. The
virtual transports of kombu write no tags."""


class Consumer(consumer.Consumer):  # type: ignore[misc]  # untyped
    """The consumer of a worker process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Celery's protocol
        super().__init__(*args, **kwargs)
        # Requests also use the errors: an acknowledgement logs them instead of raising.
        self.connection_errors = (*self.conninfo.connection_errors, RedisError, AttributeError)
        self._starts_since: float | None = time.monotonic()

    def start(self) -> None:
        """Consume until the worker stops, from the first answer of the database on."""
        host_clock.wait_compared(check_stop=maybe_shutdown)
        super().start()

    @property
    def is_connected(self) -> bool:
        """Return True while the consumer has a connection and consumes, or is about to consume."""
        since = self._starts_since
        is_late = since is not None and time.monotonic() - since > _START_SECONDS
        return self.connection is not None and self.task_consumer is not None and not is_late

    def on_ready(self) -> None:
        """Note that every queue has accepted the consumer."""
        super().on_ready()
        self._starts_since = None

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close the lost connection, without ending the process."""
        if self._starts_since is None:
            self._starts_since = time.monotonic()
        try:
            super().on_connection_error_after_connected(exc)
        except AttributeError:
            _log.warning("broker_connection_left", reason=repr(exc))

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - Celery's protocol
        """Return the handler of messages; it marks those of the queues without acknowledgement."""
        handle = super().create_task_handler(*args, **kwargs)
        self._set_limits()
        unacknowledged = {name for name, queue in self.app.amqp.queues.items() if queue.no_ack}

        def on_message(message: Any) -> Any:  # noqa: ANN401 - Celery's protocol
            if message.delivery_info.get("routing_key") in unacknowledged:
                message.delivery_info["consumer_tag"] = _NO_ACK
                message.channel.no_ack_consumers = {_NO_ACK}
            return handle(message)

        return on_message

    def _set_limits(self) -> None:
        """Limit the messages of each queue on RabbitMQ, and the blocking pops on Redis."""
        channel = self.task_consumer.channel
        if isinstance(channel, rabbitmq.Channel):
            queues = self.app.amqp.queues.consume_from
            slots = self.initial_prefetch_count
            channel.prefetch = lanes.prefetch(queues, slots=slots, patient=SLOTS.patient)
        elif isinstance(channel, RedisChannel):
            lanes.poll_by(channel)

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 - Celery's protocol
        """Connect, with retries until the worker shuts down."""
        connected = conn.ensure_connection(
            self._log_error,
            interval_start=_FIRST_PAUSE,
            interval_step=_FIRST_PAUSE,
            interval_max=_LONGEST_PAUSE,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        return connected

    def _log_error(self, error: Exception, pause: float) -> None:
        _log.warning("broker_away", reason=repr(error), again_in_seconds=pause)
