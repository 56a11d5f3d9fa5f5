"""An SMTP connection, and the delivery of a message over the connection.

The content's final dot divides "nothing was sent" from "perhaps sent": a server must not deliver
before the dot (RFC 5321, 4.1.1.4), and only the answer tells the result after the dot. Content and
dot are separate writes, and `Delivery.commit` between the writes marks the boundary. A lock orders
the sending thread and a caller after the deadline, so a message reported as not sent is never sent
later.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final
from uuid import UUID

from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Result,
    Unanswered,
    Unavailable,
)
from providers.email.smtp_client import Client, Server, Tls, TlsClient
from providers.email.smtp_replies import Stage, outcome_of
from providers.transport.loop import STANDSTILL

CONNECT_TIMEOUT_SECONDS: Final = 2.5
"""TCP timeout; below the shortest deadline (3 s), so that a dead server differs from a slow
server."""

_QUIT_SECONDS: Final = 1.0
_CUT_AGAIN_SECONDS: Final = 0.1
"""STARTTLS replaces the socket; the new one is cut after this time."""
OK: Final = 250
SIGNED_IN: Final = 235
GO_AHEAD: Final = 354
_END_OF_CONTENT: Final = b".\r\n"
"""Follows a line's end (RFC 5321, 4.1.1.4)."""
COMPLETED: Final = 2
REFUSED: Final = frozenset({4, 5})
"""First digits of positive and negative replies (RFC 5321, 4.2.1)."""


class ReplyError(Exception):
    """The server refused; carries the outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(type(outcome).__name__)
        self.outcome = outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The envelope and content for the server."""

    sender: str
    to: str
    content: bytes = field(repr=False)
    message_id: str


@dataclass(slots=True, eq=False, kw_only=True)
class Delivery:
    """One message on the way; the caller and the sending thread share the object."""

    delivery_id: UUID
    on_begin: Callable[[], None] | None = None
    """Called before the content's final dot leaves."""
    begin_by: float
    """Monotonic seconds; a delivery that no thread has begun by then never begins."""
    deadline_seconds: float
    """Time from the delivery's start."""
    started_at: float | None = None
    """Monotonic seconds."""
    _lock: Lock = field(default_factory=Lock)
    _committed: bool = False
    _abandoned: bool = False
    _session: Session | None = None
    _outcome: Outcome | None = None

    @property
    def expires_at(self) -> float:
        """Return the time at which the caller gives up, as far as known now (monotonic seconds)."""
        started_at = self.started_at
        return self.begin_by if started_at is None else started_at + self.deadline_seconds

    @property
    def remaining_seconds(self) -> float:
        """Return the time to the deadline; at least a millisecond: 0 disables the timeout."""
        return max(0.001, self.expires_at - monotonic())

    def finish(self, outcome: Outcome) -> Result:
        """Store the thread's outcome and return the result."""
        with self._lock:
            self._outcome = outcome
        return self._result(outcome)

    def give_up(self) -> Result:
        """Stop waiting for the delivery, and return the outcome to conclude."""
        return self._result(self.abandon())

    def _result(self, outcome: Outcome) -> Result:
        seconds = 0.0 if self.started_at is None else monotonic() - self.started_at
        latency = timedelta(seconds=seconds)
        return Result(delivery_id=self.delivery_id, outcome=outcome, latency=latency)

    def begin(self) -> bool:
        """Start the deadline; False if the start is too late, or the caller has gone."""
        with self._lock:
            now = monotonic()
            if self._abandoned or now >= self.begin_by:
                return False
            self.started_at = now
            return True

    def board(self, session: Session) -> bool:
        """Note the connection of the delivery; False if the caller has gone."""
        with self._lock:
            self._session = session
            return not self._abandoned

    def commit(self) -> bool:
        """Ask to send the content's final dot; False if the caller has gone, or is about to go.

        A process that stood still within the content finds the deadline passed. Nobody would wait
        for the answer to the dot, and another worker may have the delivery.
        """
        with self._lock:
            self._committed = not self._abandoned and monotonic() < self.expires_at
            if self._committed and self.on_begin is not None:
                self.on_begin()
            return self._committed

    def leave(self) -> None:
        """Drop the connection from the ended delivery, for other deliveries to use."""
        with self._lock:
            self._session = None

    def abandon(self) -> Outcome:
        """Cut the connection; return the outcome to conclude, or the outcome that came."""
        with self._lock:
            self._abandoned = True
            if self._outcome is not None:
                return self._outcome
            if self.started_at is None:
                return NotStarted(code="not_started")
            if self._session is not None:
                self._session.cut()
            return Unanswered(code="timeout") if self._committed else self.unsent("not_sent")

    def unsent(self, code: str) -> Unavailable | NotStarted:
        """Return the outcome of a mail whose content did not end.

        The thread and the caller give up at the deadline, so an outcome that comes much later is
        of a process that stood still: the server has not failed.
        """
        if monotonic() > self.expires_at + STANDSTILL:
            return NotStarted(code="not_started")
        return Unavailable(code=code)


class Session:
    """An open, authenticated connection. One thread uses a session; any thread may cut."""

    def __init__(
        self, server: Server, *, timeout_seconds: float, ssl_context: ssl.SSLContext
    ) -> None:
        """Connect and sign in, within `timeout_seconds` in total.

        Raises:
            ReplyError: the server refused the client.
            OSError: the server is unreachable, too slow (TimeoutError), or the certificate is
            wrong.
        """
        try:
            with ExitStack() as on_failure:
                on_failure.callback(self._close)
                with self._total(timeout_seconds):
                    timeout = min(timeout_seconds, CONNECT_TIMEOUT_SECONDS)
                    if server.tls is Tls.IMPLICIT:
                        TlsClient(server, timeout, ssl_context=ssl_context, hold=self._hold)
                    else:
                        Client(server, timeout, hold=self._hold)
                    self._set_timeout(timeout_seconds)
                    self._greet(server, ssl_context=ssl_context)
                on_failure.pop_all()
        except smtplib.SMTPResponseException as error:
            text = error.smtp_error if isinstance(error.smtp_error, bytes) else b""
            said = outcome_of(error.smtp_code, text, stage=Stage.CONNECT, hide=server.username)
            raise ReplyError(said) from None
        except smtplib.SMTPNotSupportedError as error:
            raise ReplyError(Misconfigured(code="not_supported", detail=str(error))) from None
        self.used_at = monotonic()
        self.used_count = 0

    def _hold(self, client: Client | TlsClient) -> None:
        self._smtp = client

    def _close(self) -> None:
        self._smtp.close()

    def _greet(self, server: Server, *, ssl_context: ssl.SSLContext) -> None:
        if isinstance(self._smtp.sock, socket.socket):
            # Else the final dot waits for the acknowledgement of the content, 40 ms on Linux.
            self._smtp.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if server.tls is Tls.STARTTLS:
            self._smtp.starttls(context=ssl_context)
        if server.username:
            self._sign_in(server)
        self._smtp.ehlo_or_helo_if_needed()

    def _sign_in(self, server: Server) -> None:
        """Sign in by any mechanism, or by PLAIN with a name or password beyond ASCII.

        `smtplib.login` takes ASCII alone; PLAIN is UTF-8 (RFC 4616, 2).

        Raises:
            smtplib.SMTPAuthenticationError: the server refuses the name or the password.
            smtplib.SMTPNotSupportedError: the server offers no AUTH, or no PLAIN that is needed.
        """
        if f"{server.username}{server.password}".isascii():
            self._smtp.login(server.username, server.password)
            return
        self._smtp.ehlo_or_helo_if_needed()
        if "PLAIN" not in self._smtp.esmtp_features.get("auth", "").upper().split():
            raise smtplib.SMTPNotSupportedError("no AUTH PLAIN for characters beyond ASCII")
        token = b64encode(f"\0{server.username}\0{server.password}".encode()).decode()
        code, reply = self._smtp.docmd("AUTH", f"PLAIN {token}")
        if code != SIGNED_IN:
            raise smtplib.SMTPAuthenticationError(code, reply)

    def is_ready(self, *, timeout_seconds: float) -> bool:
        """Reset the session after an earlier message; False if the connection is dead."""
        try:
            self._set_timeout(timeout_seconds)
            return self._smtp.docmd("RSET")[0] == OK
        except (smtplib.SMTPException, OSError):
            return False

    def deliver(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        """Send a message to a recipient.

        Raises:
            OSError: the connection broke before the server asked for the content (smtplib's own
            errors are OSErrors too).
        """
        self.used_at, self.used_count = monotonic(), self.used_count + 1
        steps = (
            (f"MAIL FROM:<{envelope.sender}>", Stage.SENDER, {OK}),
            (f"RCPT TO:<{envelope.to}>", Stage.RECIPIENT, {OK, 251}),
            ("DATA", Stage.DATA, {GO_AHEAD}),
        )
        for command, stage, good in steps:
            self._set_timeout(delivery.remaining_seconds)
            code, text = self._smtp.docmd(command)
            if code not in good:
                return outcome_of(code, text, stage=stage, hide=envelope.to)
        return self._send_content(envelope, delivery=delivery)

    def _send_content(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        self._set_timeout(delivery.remaining_seconds)
        try:
            self._smtp.send(_lines(envelope.content))
            if self._smtp.is_broken:
                return self._refusal(envelope)
        except (smtplib.SMTPException, OSError):
            self.cut()
            return delivery.unsent(_cause(delivery))
        if not delivery.commit():
            self.cut()
            return delivery.unsent("not_sent")
        return self._end_content(envelope, delivery=delivery)

    def _refusal(self, envelope: Envelope) -> Outcome:
        """Return the outcome of a mail that the server refused within the content.

        Raises:
            smtplib.SMTPServerDisconnected: the server closed the connection without a refusal.
        """
        code, text = self._smtp.getreply()
        if code // 100 not in REFUSED:
            raise smtplib.SMTPServerDisconnected("no refusal")
        return outcome_of(code, text, stage=Stage.CONTENT, hide=envelope.to)

    def _end_content(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        self._set_timeout(delivery.remaining_seconds)
        try:
            self._smtp.send(_END_OF_CONTENT)
            code, text = self._smtp.getreply()
        except (smtplib.SMTPException, OSError):
            self.cut()
            return Unanswered(code=_cause(delivery))
        if code // 100 != COMPLETED:
            return outcome_of(code, text, stage=Stage.CONTENT, hide=envelope.to)
        return Accepted(message_id=envelope.message_id)

    def quit(self) -> None:
        """Send QUIT, and ignore errors."""
        with suppress(smtplib.SMTPException, OSError):
            self._set_timeout(_QUIT_SECONDS)
            with self._total(_QUIT_SECONDS):
                self._smtp.quit()
        self._close()

    def cut(self) -> None:
        """Break the connection, from any thread; a blocked read ends with an error."""
        if isinstance(self._smtp.sock, socket.socket):
            with suppress(OSError):
                self._smtp.sock.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def _total(self, seconds: float) -> Iterator[None]:
        """Cut the connection after the time: a socket's timeout is one of each read.

        Raises:
            TimeoutError: the time was over.
            smtplib.SMTPException: the body's own, within the time.
            OSError: as SMTPException.
        """
        ended, is_late = Event(), Event()

        def watch() -> None:
            if not ended.wait(seconds):
                is_late.set()
                self.cut()
            while not ended.wait(_CUT_AGAIN_SECONDS):
                self.cut()

        thread = Thread(target=watch, name="smtp_deadline", daemon=True)
        thread.start()
        try:
            yield
        except (smtplib.SMTPException, OSError):
            if not is_late.is_set():
                raise
        finally:
            ended.set()
            thread.join()
        if is_late.is_set():  # smtplib also takes the beginning of a cut line for an answer
            raise TimeoutError

    def _set_timeout(self, seconds: float) -> None:
        if isinstance(self._smtp.sock, socket.socket):
            self._smtp.sock.settimeout(seconds)


def _cause(delivery: Delivery) -> str:
    """Return the code of a connection that broke: before or at the deadline."""
    return "cut" if delivery.expires_at > monotonic() else "timeout"


def _lines(content: bytes) -> bytes:
    """Double leading dots (RFC 5321, 4.5.2), and end the last line."""
    end = b"" if content.endswith(b"\r\n") else b"\r\n"
    return re.sub(rb"(?m)^\.", b"..", content) + end
