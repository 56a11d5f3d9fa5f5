"""Servers that misbehave on demand: the HTTP server of the conformance suite, and a mail server."""

from __future__ import annotations

import asyncio
import logging
import ssl
from datetime import timedelta
from email import message_from_bytes

from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as SmtpSession

from providers.conformance import Act
from providers.conformance.http_server import HttpFake, Listener, cut, free_port, never

__all__ = ["HttpFake", "Listener", "SmtpFake", "cut", "free_port", "never"]

# It logs whole messages; a fake's log must not be taken for ours.
logging.getLogger("mail.log").propagate = False


class SmtpFake:
    """A real SMTP server; the act decides at MAIL, RCPT or DATA."""

    retry_after: timedelta | None = None

    def __init__(self, *, tls: ssl.SSLContext | None = None, **options: object) -> None:
        """`tls` encrypts from the first byte; `options` are aiosmtpd's."""
        self._act = Act.ACCEPT
        self._options = options
        self.contents: list[bytes] = []
        self.senders: list[str] = []
        self.connections = 0
        self._listener = Listener(self._protocol, tls=tls)
        self.port = self._listener.port

    @property
    def keys(self) -> list[str]:
        return [str(message_from_bytes(content)["Message-ID"]) for content in self.contents]

    def act(self, act: Act) -> None:
        self._act = act

    def stop(self) -> None:
        self._listener.stop()

    def start(self) -> None:
        self._listener.start()

    def close(self) -> None:
        self._listener.close()

    def _protocol(self) -> asyncio.Protocol:
        self.connections += 1
        return SMTP(self, loop=asyncio.get_running_loop(), hostname="fake", **self._options)  # type: ignore[arg-type] # any

    # aiosmtpd's hooks

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,
        session: SmtpSession,
        envelope: Envelope,
        sender: str,
        options: list[str],
    ) -> str:
        del server, session, options
        if self._act is Act.BAD_CREDENTIALS:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = sender
        self.senders.append(sender)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: SmtpSession, envelope: Envelope, to: str, options: list[str]
    ) -> str:
        del server, session, options
        match self._act:
            case Act.REJECT:
                return f"550 5.7.1 {to} refused by policy"
            case Act.THROTTLE:
                return "454 Throttling failure: Maximum sending rate exceeded"
            case Act.UNAVAILABLE:
                return "451 4.7.1 Greylisted, come back later"
            case _:
                envelope.rcpt_tos.append(to)
                return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: SmtpSession, envelope: Envelope
    ) -> str:
        del session
        assert isinstance(envelope.original_content, bytes)
        self.contents.append(envelope.original_content)
        if self._act is Act.HANG:
            await never()
        if self._act is Act.CUT:
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return "250 Queued"
