"""Callbacks of the sandbox: receipts, and answers typed on the page.

Callbacks are signed, and go in lists to the one configured URL.

The sandbox retries while the receiver is away, and gives up after a minute. Waiting callbacks are
lost with the process, as a vendor's callbacks may be: the receiver must not depend on callbacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import orjson

from providers import clock, standard_webhooks
from providers.transport import Reply, Request, Response, Transport

PER_CALL: Final = 100
"""Receipts in one POST, like the vendors that send lists."""

DEADLINE: Final = timedelta(seconds=5)

BACKOFF_SECONDS: Final = (0.25, 0.5, 1, 2, 4, 8, 15, 30)
"""Waits between tries; about a minute together."""


@dataclass(slots=True, eq=False)
class Note:
    """A receipt, or text, to send."""

    line: dict[str, str]
    log: list[dict[str, Any]] = field(repr=False)
    """The call on which the result is noted."""
    is_text: bool = False
    tries: int = 0


class ReceiptSender:
    """Sends receipts from one task; a Note waits on a timer of the loop until due."""

    def __init__(
        self, *, url: str, secrets: Sequence[standard_webhooks.Secret], transport: Transport
    ) -> None:
        """`url` is the receipts endpoint of the installation, without a guard."""
        self._url, self._secrets, self._transport = url, secrets, transport
        self._due: list[Note] = []
        self._wake = asyncio.Event()

    def schedule(self, notes: Sequence[Note], *, delay_seconds: float) -> None:
        """Send the notes after a delay, in order."""
        if delay_seconds > 0:
            asyncio.get_running_loop().call_later(delay_seconds, self._add, notes)
        else:
            self._add(notes)

    async def send(self, notes: Sequence[Note]) -> None:
        """Send the notes now; failed notes are scheduled again."""
        receipts = [note.line for note in notes if not note.is_text]
        texts = [note.line for note in notes if note.is_text]
        body = orjson.dumps({"receipts": receipts} | ({"texts": texts} if texts else {}))
        signed = standard_webhooks.sign(
            body, message_id=f"rcpt_{uuid4().hex}", at=clock.now(), secrets=self._secrets
        )
        headers = [f"{name}: {value}" for name, value in signed.items()]
        request = Request(
            url=self._url, headers=["Content-Type: application/json", *headers], body=body
        )
        reply = await asyncio.to_thread(self._post, request)
        status = reply.status if isinstance(reply, Response) else 0
        for note in notes:
            note.tries += 1
            note.log.append({"kind": note.line.get("kind", "text"), "at": note.line["occurred_at"]})
            note.log[-1] |= {"status": status, "try": note.tries}
        if not isinstance(reply, Response) or not reply.is_success:
            self._try_again(notes)

    async def run(self) -> None:
        """Send due notes until cancelled."""
        while True:
            await self._wake.wait()
            now, self._due = self._due[:PER_CALL], self._due[PER_CALL:]
            if not self._due:
                self._wake.clear()
            await self.send(now)

    def _add(self, notes: Sequence[Note]) -> None:
        self._due.extend(notes)
        self._wake.set()

    def _try_again(self, notes: Sequence[Note]) -> None:
        for note in notes:
            if note.tries <= len(BACKOFF_SECONDS):
                self.schedule([note], delay_seconds=BACKOFF_SECONDS[note.tries - 1])

    def _post(self, request: Request) -> Reply:
        ((_, reply),) = self._transport.send([request], deadline=DEADLINE)
        return reply
