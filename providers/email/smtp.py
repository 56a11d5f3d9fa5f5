"""Any SMTP server: a few connections kept open, one recipient per envelope.

One recipient per envelope gives one answer per delivery. Each process opens up to `connections`
sessions on demand and keeps the sessions open; one thread at a time uses a session; urgent mails go
first.

    send(batch) -> threads -> Session (kept) -> server
         ^            '-> Outcome -> queue
         '---------------------------'     a mail without an outcome at the deadline is abandoned

Each mail has the deadline from the mail's start. A mail that no thread has begun within half of the
deadline is not started. The two limits hold even if name resolution or a server hangs, because the
caller never waits for a thread, only for the queue. Bounces come later by mail to the From address;
there are no receipts.
"""

from __future__ import annotations

import os
import ssl
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from email.headerregistry import Address
from functools import partial
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from time import monotonic
from typing import Final
from urllib.parse import parse_qs, unquote
from uuid import UUID

from providers import clock, configuration, mailboxes
from providers.configuration import parse_with
from providers.contract import (
    Capabilities,
    Channel,
    Finding,
    Message,
    NotStarted,
    Outcome,
    Pace,
    Rejected,
    Repeat,
    Result,
)
from providers.email import mime
from providers.email.smtp_client import Server, Tls
from providers.email.smtp_delivery import Delivery
from providers.email.smtp_session import EndedSession, Envelope, ReplyError, Session
from providers.transport import Transport
from providers.transport.loop import REPRIEVE, STANDSTILL
from providers.vendor import OneWay, Vendor

NAME: Final = "smtp"

PER_SECOND: Final = 500
"""Local limit: several processes send over the default's connections, at 20 ms a mail. Hosted
relays state their own limits."""

IDLE_LIFE_SECONDS: Final = 30
"""Servers drop idle clients after a minute or more; the client closes earlier."""

_TAKEN_PER_CONNECTION: Final = 3
"""Mails that the adapter takes for each connection: one is on its way, and two wait, so that a
thread goes on without the commit of the next wave, and a wave has several mails. At 2.5 s a mail
the last of three begins within half of ten seconds."""

_BEGIN_WITHIN: Final = 0.5
"""Share of the deadline in which a thread must have begun a mail."""

ATTACHMENT_BYTES: Final = 18_000_000
"""Gmail receives mails of 25 MB (https://support.google.com/mail/answer/6584), and base64 makes 78
bytes of 57. A server with a lower limit refuses the single mail."""

MESSAGES_PER_SESSION: Final = 100
"""Many servers cut a client off after 100 mails or a similar number."""

_Job = Callable[[], None]
"""A job; a job raises no exception."""


def server_url(text: str) -> Server:
    """Read `smtp://user:password@host:587?starttls=1` or `smtps://host`.

    Raises:
        ValueError: the text has neither form; the message does not repeat the text.
    """
    parts = configuration.split_url(text)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ValueError("write smtp://host:port, smtp://host:port?starttls=1 or smtps://host:port")
    given = parse_qs(parts.query, keep_blank_values=True)
    if set(given) - {"starttls"}:  # a misspelt one would send the password without TLS
        raise ValueError("has an unknown parameter; the only one is starttls=1")
    starttls = given.get("starttls", ["no"])[-1]
    tls = Tls.STARTTLS if configuration.yes_no(starttls) else Tls.NONE
    if parts.scheme == "smtps":
        tls = Tls.IMPLICIT
    default_port = {Tls.NONE: 25, Tls.STARTTLS: 587, Tls.IMPLICIT: 465}[tls]
    return Server(
        host=parts.hostname,
        port=parts.port or default_port,
        tls=tls,
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_SMTP_*`."""

    url: Server = field(metadata=parse_with(server_url))
    """Server: `smtp://user:password@smtp.example.com:587?starttls=1`, or `smtps://`."""
    from_: Address = field(metadata=parse_with(mime.mailbox))
    """Sender: `Example <notify@example.com>`."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    connections: int = field(default=10, metadata=parse_with(configuration.positive_number))
    """Open connections per process, plus an eighth (at least one) for urgent mails. A server with
    100 ms a mail takes ten mails a second on each. Postfix allows a client 50 by default."""


class Smtp(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self,
        config: Config,
        *,
        now: clock.Clock = clock.now,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Contact nothing before the first `send`; the default context is the system's."""
        self._config = config
        self.capabilities: Final = Capabilities(
            channels=frozenset({Channel.EMAIL}),
            repeat=Repeat.VISIBLE,
            gives_receipts=False,
            pace=Pace.even(config.per_second),
            concurrency=_TAKEN_PER_CONNECTION * config.connections,
            marks_begin=True,
            attachment_bytes=ATTACHMENT_BYTES,
            sender_address=config.from_.addr_spec,
        )
        self._now = now
        self._ssl_context = ssl_context or ssl.create_default_context()
        self._start_afresh()
        os.register_at_fork(after_in_child=self._start_afresh)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        seconds = deadline.total_seconds()
        begin_by = monotonic() + _BEGIN_WITHIN * seconds
        finished: SimpleQueue[Result] = SimpleQueue()
        waiting: dict[UUID, Delivery] = {}
        for message in batch:
            delivery = Delivery(
                delivery_id=message.delivery_id,
                on_begin=message.on_begin,
                begin_by=begin_by,
                deadline_seconds=seconds,
            )
            waiting[message.delivery_id] = delivery
            job = partial(self._carry, message, delivery=delivery, finished=finished)
            self._threads.submit(job, urgent=message.urgent)
        return _results(waiting, finished=finished)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: connects, and logs in if a user is set."""
        server = self._config.url
        subject = f"{server.host}:{server.port}"
        try:
            Session(
                server, timeout_seconds=deadline.total_seconds(), ssl_context=self._ssl_context
            ).quit()
        except ReplyError as error:
            said = [getattr(error.outcome, name, "") for name in ("code", "detail")]
            yield Finding(subject=subject, is_good=False, detail=": ".join(filter(None, said)))
        except (OSError, ValueError) as error:  # TLS errors, and a challenge that is no base64
            yield Finding(subject=subject, is_good=False, detail=type(error).__name__)
        else:
            yield Finding(subject=subject, is_good=True, detail="signed in")

    def close(self) -> None:
        """Close every idle connection and let the threads end."""
        self._threads.close()
        while self._idle:
            self._idle.pop().quit()

    def _start_afresh(self) -> None:
        """Begin with no connection and no thread: a forked child must share neither."""
        self._inherited = getattr(self, "_idle", None)
        self._idle: list[Session] = []
        self._threads = _Threads(self._config.connections)

    def _carry(
        self, message: Message, *, delivery: Delivery, finished: SimpleQueue[Result]
    ) -> None:
        """Run in a thread: one delivery, start to end."""
        try:
            outcome = self._outcome(message, delivery=delivery)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread has further mails
            outcome = delivery.failed(type(error).__name__)
        finished.put(delivery.finish(outcome))

    def _outcome(self, message: Message, *, delivery: Delivery) -> Outcome:
        if not delivery.begin():
            return NotStarted(code="not_started")
        try:
            return self._carry_over_session(self._envelope(message), delivery=delivery)
        except mailboxes.MalformedAddress as error:
            return Rejected(code="malformed_address", detail=str(error))
        except ReplyError as error:
            return error.outcome
        except ssl.SSLError:
            return delivery.unsent("tls")
        except OSError as error:
            return delivery.unsent("timeout" if isinstance(error, TimeoutError) else "connect")

    def _envelope(self, message: Message) -> Envelope:
        sender = self._config.from_
        to = mailboxes.check(message.address)
        return Envelope(
            sender=mime.sender_of(message, sender).addr_spec,
            to=to,
            content=mime.encode(message, sender=sender, to=to, at=self._now()),
            message_id=mime.message_id(message, sender=sender.addr_spec),
        )

    def _carry_over_session(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        """Deliver over a kept connection, or over a new connection if no kept one is alive."""
        kept = self._kept_session()
        if kept is not None:
            with suppress(EndedSession):
                return self._deliver(kept, envelope, delivery=delivery)
        new = Session(
            self._config.url,
            timeout_seconds=delivery.remaining_seconds,
            ssl_context=self._ssl_context,
        )
        return self._deliver(new, envelope, delivery=delivery)

    def _kept_session(self) -> Session | None:
        """Take the most recently used connection that seems to be alive."""
        while self._idle:
            try:
                session = self._idle.pop()
            except IndexError:
                break  # another thread was quicker
            if session.has_ended:
                session.close()
            elif session.used_at > monotonic() - IDLE_LIFE_SECONDS:
                return session
            else:
                session.quit()
        return None

    def _deliver(self, session: Session, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        """Deliver over a connection, and keep the connection if it can carry another mail.

        Raises:
            EndedSession: as `Session.deliver`.
            OSError: as EndedSession.
        """
        try:
            if not delivery.board(session):
                return delivery.unsent("not_sent")
            return session.deliver(envelope, delivery=delivery)
        except Exception:  # whatever the error is, unread replies may be on the connection
            session.cut()
            raise
        finally:
            delivery.leave()
            if session.is_cut:
                session.close()
            elif session.used_count < MESSAGES_PER_SESSION:
                self._idle.append(session)
            else:
                session.quit()


def _results(waiting: dict[UUID, Delivery], *, finished: SimpleQueue[Result]) -> Iterator[Result]:
    """Yield finished mails, and each unfinished mail at the mail's deadline.

    After a standstill the threads get a moment for the replies that arrived meanwhile.
    """
    look_at = 0.0  # no deadline ends before: one that starts only moves its own to later
    try:
        while waiting:
            try:
                result = finished.get(timeout=max(0.0, look_at - monotonic()))
            except Empty:
                if look_at and monotonic() > look_at + STANDSTILL:
                    look_at = monotonic() + REPRIEVE
                    continue
                for delivery in _overdue(waiting):
                    del waiting[delivery.delivery_id]
                    yield delivery.give_up()
                look_at = min((each.expires_at for each in waiting.values()), default=0.0)
            else:
                if waiting.pop(result.delivery_id, None) is not None:
                    yield result
    finally:
        for delivery in waiting.values():
            delivery.abandon()


def _overdue(waiting: Mapping[UUID, Delivery]) -> list[Delivery]:
    now = monotonic()
    return [delivery for delivery in waiting.values() if delivery.expires_at <= now]


def _build(config: Config, *, transport: Transport) -> Smtp:
    del transport  # HTTP's
    return Smtp(config)


class _Threads:
    """At most `size` jobs at a time, and an eighth more (at least one) for urgent jobs.

    Threads start on demand, and carry one mail at a time each. Urgent jobs may use a few threads
    more, so that urgent jobs do not wait while every connection hangs.
    """

    def __init__(self, size: int) -> None:
        """Start no thread yet."""
        self._size, self._most = size, size + max(1, size // 8)
        self._changed = Condition()
        self._urgent: deque[_Job] = deque()
        self._patient: deque[_Job] = deque()
        self._busy = 0
        self._closed = False
        self._threads: list[Thread] = []

    def submit(self, job: _Job, *, urgent: bool) -> None:
        """Run a job in the next free thread."""
        with self._changed:
            (self._urgent if urgent else self._patient).append(job)
            waiting = len(self._urgent) + len(self._patient)
            if self._busy + waiting > len(self._threads) < self._most:
                thread = Thread(target=self._work, name="smtp", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Let the threads end after the submitted jobs, and wait for the end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            try:
                job()
            finally:
                with self._changed:
                    self._busy -= 1

    def _take(self) -> _Job | None:
        with self._changed:
            while True:
                if self._urgent:
                    line = self._urgent
                elif self._patient and self._busy < self._size:
                    line = self._patient
                elif self._closed and not self._patient:
                    self._changed.notify_all()
                    return None
                else:
                    self._changed.wait()
                    continue
                self._busy += 1
                return line.popleft()


VENDOR: Final = Vendor(NAME, Config, _build)
