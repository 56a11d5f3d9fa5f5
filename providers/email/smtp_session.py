"""An SMTP connection, and the delivery of a message over the connection.

The content's final dot divides "nothing was sent" from "perhaps sent": a server must not deliver
before the dot (RFC 5321, 4.1.1.4), and only the answer tells the result after the dot. Content and
dot are separate writes, and `Delivery.commit` between the writes marks the boundary.

A server with the extension PIPELINING (RFC 2920) gets the commands before the content in one write,
and a mail takes two round trips in place of five. A kept connection is reset first. A reply that
nobody waits for, or the end of the connection, ends the use of the connection: an unread reply
would be taken for that of a later command.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Final, NamedTuple

from providers.contract import (
    Accepted,
    Misconfigured,
    Outcome,
    Unanswered,
)
from providers.email.smtp_client import Client, Server, Tls, TlsClient
from providers.email.smtp_delivery import Delivery
from providers.email.smtp_replies import Stage, outcome_of

CONNECT_TIMEOUT_SECONDS: Final = 2.5
"""TCP timeout; below the shortest deadline (3 s), so that a dead server differs from a slow
server."""

_QUIT_SECONDS: Final = 1.0
_SKIP_SECONDS: Final = 1.0
"""Wait for each reply to the rest of a group behind a refusal."""
_CUT_AGAIN_SECONDS: Final = 0.1
"""STARTTLS replaces the socket; the new one is cut after this time."""
OK: Final = 250
SIGNED_IN: Final = 235
GO_AHEAD: Final = 354
CLOSING: Final = 421
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


class EndedSession(Exception):
    """A kept connection had ended before the mail; the server has got nothing."""


class _Step(NamedTuple):
    command: str
    stage: Stage
    good: frozenset[int] = frozenset({OK})
    """Codes of the replies that let the message go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The envelope and content for the server."""

    sender: str
    to: str
    content: bytes = field(repr=False)
    message_id: str


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
                on_failure.callback(self.close)
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
        self._takes_groups = self._smtp.has_extn("pipelining")
        self.used_at = monotonic()
        self.used_count = 0
        self.is_cut = False

    def _hold(self, client: Client | TlsClient) -> None:
        self._smtp = client

    def close(self) -> None:
        """Close the connection without QUIT."""
        self._smtp.close()

    @property
    def has_ended(self) -> bool:
        """True if the server has closed the connection, or has said something unasked."""
        return self._smtp.has_spoken()

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

    def deliver(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        """Send a message to a recipient.

        Raises:
            EndedSession: the connection of an earlier message has ended.
            OSError: the connection broke before the server asked for the content (smtplib's own
            errors are OSErrors too).
        """
        steps = [
            _Step(f"MAIL FROM:<{envelope.sender}>", Stage.SENDER),
            _Step(f"RCPT TO:<{envelope.to}>", Stage.RECIPIENT, frozenset({OK, 251})),
            _Step("DATA", Stage.DATA, frozenset({GO_AHEAD})),
        ]
        if self.used_count:
            steps.insert(0, _Step("RSET", Stage.RESET))
        self.used_at, self.used_count = monotonic(), self.used_count + 1
        groups = [steps] if self._takes_groups else [[each] for each in steps]
        for group in groups:
            refusal = self._first_refusal(group, hide=envelope.to, delivery=delivery)
            if refusal is not None:
                return refusal
        return self._send_content(envelope, delivery=delivery)

    def _first_refusal(
        self, group: Sequence[_Step], *, hide: str, delivery: Delivery
    ) -> Outcome | None:
        """Send commands in one write; returns the outcome of the first refused one.

        Raises:
            EndedSession: RSET has no good reply.
            OSError: the connection broke before a refusal.
        """
        self._set_timeout(delivery.remaining_seconds)
        self._smtp.send("".join([f"{each.command}\r\n" for each in group]))
        for number, step in enumerate(group, start=1):
            self._set_timeout(delivery.remaining_seconds)
            code, text = self._reset_reply() if step.stage is Stage.RESET else self._smtp.getreply()
            if code not in step.good:
                if code == CLOSING or not self._skip_refusals([code], count=len(group) - number):
                    self.cut()
                return outcome_of(code, text, stage=step.stage, hide=hide)
        return None

    def _reset_reply(self) -> tuple[int, bytes]:
        try:
            code, text = self._smtp.getreply()
        except OSError:
            if self.is_cut:  # by the caller, at the deadline
                raise
            raise EndedSession from None
        if code != OK:
            raise EndedSession
        return code, text

    def _skip_refusals(self, codes: list[int], *, count: int) -> bool:
        """Read the replies to the rest of a group; returns False if not all replies are refusals.

        A server that asks for the content of a refused message gets none: a final dot would end an
        empty message.
        """
        self._set_timeout(_SKIP_SECONDS)
        try:
            codes += [self._smtp.getreply()[0] for _ in range(count)]
        except OSError:
            return False
        return all(code // 100 in REFUSED for code in codes)

    def _send_content(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        self._set_timeout(delivery.remaining_seconds)
        try:
            self._smtp.send(_lines(envelope.content))
            if self._smtp.is_broken or self._smtp.has_spoken():
                return self._refusal(envelope, delivery=delivery)
        except OSError:
            self.cut()
            return delivery.unsent(_cause(delivery))
        if not delivery.commit():
            self.cut()
            return delivery.unsent("not_sent")
        return self._end_content(envelope, delivery=delivery)

    def _refusal(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        """Return the outcome of a mail that the server refused within the content.

        Raises:
            smtplib.SMTPServerDisconnected: the server closed the connection without a refusal.
        """
        self._set_timeout(delivery.remaining_seconds)
        code, text = self._smtp.getreply()
        if code // 100 not in REFUSED:
            raise smtplib.SMTPServerDisconnected("no refusal")
        self.cut()
        return outcome_of(code, text, stage=Stage.CONTENT, hide=envelope.to)

    def _end_content(self, envelope: Envelope, *, delivery: Delivery) -> Outcome:
        self._set_timeout(delivery.remaining_seconds)
        try:
            self._smtp.send(_END_OF_CONTENT)
            code, text = self._smtp.getreply()
        except OSError:
            self.cut()
            return Unanswered(code=_cause(delivery))
        if code // 100 != COMPLETED:
            if code == CLOSING or code // 100 not in REFUSED:
                self.cut()
            return outcome_of(code, text, stage=Stage.CONTENT, hide=envelope.to)
        return Accepted(message_id=envelope.message_id)

    def quit(self) -> None:
        """Send QUIT, and ignore errors."""
        with suppress(smtplib.SMTPException, OSError):
            self._set_timeout(_QUIT_SECONDS)
            with self._total(_QUIT_SECONDS):
                self._smtp.quit()
        self.close()

    def cut(self) -> None:
        """Break the connection, from any thread; a blocked read ends with an error."""
        self.is_cut = True
        self._smtp.shut()

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
