"""The server's address, and smtplib's clients with three changes.

- A connecting client is known to the session, so that another thread can cut it.
- A broken write keeps the connection: the server's reply is still read.
- Unread replies and the end of a connection are seen without a wait.
"""

from __future__ import annotations

import select
import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class Tls(Enum):
    """Encryption of a connection; certificates are always verified."""

    NONE = auto()
    """For a relay on the same machine or private network."""
    STARTTLS = auto()
    IMPLICIT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The server's address and the login."""

    host: str
    port: int
    tls: Tls
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


Hold = Callable[["Client | TlsClient"], None]
"""Takes a client before the client connects, so that another thread can cut the greeting."""


class _Replies(smtplib.SMTP):
    """Keeps the connection after a broken write, so that the next read gets the server's reply.

    A server may refuse a mail within the content, and close: the write breaks, and the reply waits.
    """

    is_broken = False
    """A write has failed."""

    def send(self, s: str | Any) -> None:  # noqa: ANN401 - smtplib's signature
        """Write; the reply to a broken write decides, so it raises nothing.

        Raises:
            TimeoutError: the server takes no more bytes.
            smtplib.SMTPServerDisconnected: the client is closed.
        """
        data = s.encode(self.command_encoding) if isinstance(s, str) else s
        if self.sock is None:
            raise smtplib.SMTPServerDisconnected("please run connect() first")
        try:
            self.sock.sendall(data)
        except TimeoutError:
            self.close()
            raise
        except OSError:
            self.is_broken = True

    def has_spoken(self) -> bool:
        """Return True if the server has said something unread, or has closed the connection.

        The next read or write needs a new timeout.
        """
        if self.sock is None or self.file is None:
            return True
        self.sock.settimeout(0)
        try:
            if self.file.peek(1):
                return True
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
        # Nothing to read, or the end, which a socket without TLS shows as something to read.
        looks = select.poll()
        looks.register(self.sock, select.POLLIN)
        return isinstance(self.sock, ssl.SSLSocket) or bool(looks.poll(0))

    def shut(self) -> None:
        """Break the connection, from any thread."""
        # Not the method of `SSLSocket`, behind which a write of another thread is not encrypted.
        if (sock := self.sock) is not None:
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class Client(_Replies):
    """A client without TLS, or with STARTTLS later."""

    def __init__(self, server: Server, timeout: float, *, hold: Hold) -> None:
        hold(self)
        super().__init__(server.host, server.port, timeout=timeout)


class TlsClient(_Replies, smtplib.SMTP_SSL):
    """A client over TLS from the first byte."""

    def __init__(
        self, server: Server, timeout: float, *, ssl_context: ssl.SSLContext, hold: Hold
    ) -> None:
        hold(self)
        super().__init__(server.host, server.port, timeout=timeout, context=ssl_context)
