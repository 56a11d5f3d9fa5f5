"""The providers of a run: FCM, Twilio, an SMTP server, a webhook receiver, in one process.

    python -m tests.chaos.stand_in SEED LOG CONTROL PUSH SMS EMAIL WEBHOOK      (ports)

What becomes of a call is decided by the seed, the call's token and how often that token came, and
is written to the log before the caller gets its answer: a caller that dies meanwhile has delivered,
whatever it knows. `POST /steer` on the control port changes a channel's manner.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from notifyproj.devstack.ports import LOOPBACK
from providers.contract import Channel
from tests.chaos import dice
from tests.chaos.facts import SILENCE, now
from tests.chaos.plans import CHANNELS, WELL, Manner

_TOKEN: Final = re.compile(rb"tok_[0-9a-f]{16}")
_TAG: Final = re.compile(rb'"tag": ?"([^"]*)"')
_WEBHOOK_ID: Final = re.compile(rb"\r\nwebhook-id: *([^\r]*)\r\n", re.IGNORECASE)
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_HANG_SECONDS: Final = 60.0
"""Longer than any deadline of a caller."""
_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one call."""

    number: int
    answer: str
    seconds: float
    message_id: str


class Book:
    """Decides on calls and writes the log: a line when a call is read, one when it ends."""

    def __init__(self, seed: str, log: Path) -> None:
        self._seed = seed
        self._log = log.open("ab", buffering=0)
        self._calls = 0
        self._seen: Counter[str] = Counter()
        self.manners: dict[Channel, Manner] = dict.fromkeys(CHANNELS, WELL)
        self.moving = {channel: asyncio.Event() for channel in CHANNELS}
        """Set while a channel's stand-in does not stand still."""
        for moves in self.moving.values():
            moves.set()

    def begin(
        self, channel: Channel, content: bytes, *, port: int, key: str = ""
    ) -> Verdict | None:
        """Decide and log; None when the content is none of the run's."""
        found = _TOKEN.search(content)
        if found is None:
            return None
        token, manner = found[0].decode(), self.manners[channel]
        self._seen[token] += 1
        self._calls += 1
        about = (self._seed, token, self._seen[token])
        shares = [
            ("unavailable", manner.unavailable),
            ("throttled", manner.throttled),
            ("hang", manner.hangs),
            ("cut", manner.cuts),
        ]
        well = 1.0 - sum(share for _, share in shares)
        answer = dice.pick([*shares, ("ok", max(0.0, well))], "answer", *about)
        verdict = Verdict(
            number=self._calls,
            answer=answer,
            seconds=dice.between(manner.fastest, manner.slowest, "seconds", *about),
            message_id=f"SM{self._calls:032x}",
        )
        took = answer == "ok" or answer in SILENCE
        self._write(
            call=self._calls,
            channel=channel.label,
            token=token,
            port=port,
            key=key,
            at=now(),
            took=took,
            answer=answer,
            message_id=verdict.message_id,
        )
        return verdict

    def end(self, verdict: Verdict, *, answered: bool) -> None:
        """Log that the answer is out, or that nobody is there to get it."""
        self._write(call=verdict.number, ended=now(), answered=answered)

    def end_in_silence(self, verdict: Verdict, answer: str) -> None:
        """Log that the stand-in took the message and by its own fault gave no answer."""
        self._write(call=verdict.number, ended=now(), answered=False, answer=answer)

    def _write(self, **entry: object) -> None:
        self._log.write(json.dumps(entry).encode() + b"\n")


async def _wait(reader: asyncio.StreamReader, verdict: Verdict) -> bool:
    """Let the call's time pass; False when its caller has gone, or is to get no answer."""
    hangs = verdict.answer == "hang"
    try:
        async with asyncio.timeout(_HANG_SECONDS if hangs else verdict.seconds):
            await reader.read(1)  # nothing comes before our answer: an end alone wakes us
    except TimeoutError:
        return verdict.answer not in SILENCE
    except OSError:
        return False
    return False


async def _answers(
    reader: asyncio.StreamReader, verdict: Verdict, channel: Channel, book: Book
) -> bool:
    """Let the call's time pass; False, and logged, when there is nobody or nothing to answer."""
    if not await _wait(reader, verdict):
        if verdict.answer == "ok" and book.manners[channel].is_down:
            book.end_in_silence(verdict, "cut")
        else:
            book.end(verdict, answered=False)
        return False
    await book.moving[channel].wait()
    if verdict.answer == "ok" and reader.at_eof():
        book.end_in_silence(verdict, "hang")
        return False
    return True


class Http:
    """FCM, Twilio and the webhook receiver."""

    def __init__(self, channel: Channel, book: Book) -> None:
        self._channel = channel
        self._book = book

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one caller's requests, one after the other."""
        try:
            while await self._one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # the caller has gone
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[1])) if length else b""
        await self._book.moving[self._channel].wait()
        if head.startswith(b"POST /token"):
            await _reply(writer, "200 OK", {"access_token": "chaos", "expires_in": 3600})
            return True
        key = _key(self._channel, head, body)
        verdict = self._book.begin(self._channel, body, port=_port(writer), key=key)
        if verdict is None:
            await _reply(writer, "400 Bad Request", {})
            return True
        if not await _answers(reader, verdict, self._channel, self._book):
            return False
        status, answer = self._answer(verdict)
        wait = self._book.manners[self._channel].retry_after
        named = verdict.answer == "throttled" and wait > 0
        await _reply(writer, status, answer, extra=f"Retry-After: {wait}\r\n" if named else "")
        self._book.end(verdict, answered=True)
        return True

    def _answer(self, verdict: Verdict) -> tuple[str, object]:
        is_push = self._channel is Channel.PUSH
        name = verdict.message_id
        match verdict.answer:
            case "unavailable":
                return "503 Service Unavailable", _error(503, "UNAVAILABLE") if is_push else {}
            case "throttled":
                too_many = _error(429, "RESOURCE_EXHAUSTED") if is_push else {"code": 20429}
                return "429 Too Many Requests", too_many
            case _:
                return "200 OK" if is_push else "201 Created", {"name": name, "sid": name}


def _error(code: int, status: str) -> object:
    return {"error": {"code": code, "status": status, "message": "not now"}}


def _port(writer: asyncio.StreamWriter) -> int:
    """The caller's end."""
    peer = writer.get_extra_info("peername")
    return int(peer[1]) if peer else 0


def _key(channel: Channel, head: bytes, body: bytes) -> str:
    pattern = {Channel.PUSH: _TAG, Channel.WEBHOOK: _WEBHOOK_ID}.get(channel)
    found = pattern.search(body if channel is Channel.PUSH else head) if pattern else None
    return found[1].decode() if found else ""


async def _reply(
    writer: asyncio.StreamWriter, status: str, answer: object, *, extra: str = ""
) -> None:
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{extra}"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()


class Mail:
    """An SMTP server that thinks after the content's last dot."""

    def __init__(self, book: Book) -> None:
        self._book = book

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one session."""
        await self._book.moving[Channel.EMAIL].wait()
        try:
            await _say(writer, "220 stand-in ESMTP")
            while await self._one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # the caller has gone
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        verb = (await reader.readuntil(b"\r\n"))[:4].upper()
        await self._book.moving[Channel.EMAIL].wait()
        if verb == b"QUIT":
            await _say(writer, "221 bye")
            return False
        if verb != b"DATA":
            await _say(writer, "250 ok")
            return True
        await _say(writer, "354 go ahead")
        content = await reader.readuntil(b"\r\n.\r\n")
        await self._book.moving[Channel.EMAIL].wait()
        verdict = self._book.begin(Channel.EMAIL, content, port=_port(writer))
        if verdict is None:
            await _say(writer, "550 5.7.1 none of ours")
            return True
        if not await _answers(reader, verdict, Channel.EMAIL, self._book):
            return False
        answers = {
            "ok": f"250 2.0.0 queued as {verdict.message_id}",
            "unavailable": "451 4.3.0 try again later",
            "throttled": "450 4.7.1 too many messages, slow down",
        }
        await _say(writer, answers[verdict.answer])
        self._book.end(verdict, answered=True)
        return True


async def _say(writer: asyncio.StreamWriter, line: str) -> None:
    writer.write(line.encode() + b"\r\n")
    await writer.drain()


class Doors:
    """The listeners, opened and closed by manners; closing cuts off who is connected."""

    def __init__(self, book: Book, ports: dict[Channel, int]) -> None:
        self._book = book
        self._ports = ports
        self._servers: dict[Channel, asyncio.Server] = {}
        self._callers: dict[Channel, set[asyncio.StreamWriter]] = {name: set() for name in ports}

    async def set_manner(self, channel: Channel, manner: Manner) -> None:
        """Behave like this from now on."""
        self._book.manners[channel] = manner
        if manner.stands_still:
            self._book.moving[channel].clear()
        else:
            self._book.moving[channel].set()
        if manner.is_down and channel in self._servers:
            self._servers.pop(channel).close()
            for writer in list(self._callers[channel]):
                writer.transport.abort()
        elif not manner.is_down and channel not in self._servers:
            await self.open(channel)

    async def open(self, channel: Channel) -> None:
        """Listen."""
        mail = channel is Channel.EMAIL
        serve = Mail(self._book).serve if mail else Http(channel, self._book).serve

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._callers[channel].add(writer)
            try:
                await serve(reader, writer)
            finally:
                self._callers[channel].discard(writer)

        self._servers[channel] = await asyncio.start_server(
            greet, LOOPBACK, self._ports[channel], limit=_LARGEST, backlog=1024
        )

    async def control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """`POST /steer {"channel": ..., "manner": {...}}`."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        asked = json.loads(await reader.readexactly(int(length[1]))) if length else None
        if asked is not None:
            await self.set_manner(Channel[asked["channel"].upper()], Manner(**asked["manner"]))
        await _reply(writer, "200 OK", {})
        writer.close()


def steering(channel: Channel, manner: Manner) -> dict[str, object]:
    """The body of a `POST /steer`."""
    return {"channel": channel.label, "manner": asdict(manner)}


async def _run(seed: str, log: Path, ports: list[int]) -> None:
    control, *others = ports
    doors = Doors(Book(seed, log), dict(zip(CHANNELS, others, strict=True)))
    for channel in CHANNELS:
        await doors.open(channel)
    server = await asyncio.start_server(doors.control, LOOPBACK, control)
    await server.serve_forever()


if __name__ == "__main__":
    os.umask(0o077)
    asyncio.run(_run(sys.argv[1], Path(sys.argv[2]), [int(port) for port in sys.argv[3:]]))
