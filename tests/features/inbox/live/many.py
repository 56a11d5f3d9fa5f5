"""Many streams in one thread, for tests and benchmarks of thousands of connections."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any


class RawStream:
    """A stream that keeps no event except those that the caller waits for."""

    def __init__(self, port: int, token: str, *, since: int | None = None, host: str = "") -> None:
        self._port, self._token, self._since = port, token, since
        self._host = host
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Connect and send the request; raises ConnectionError without a stream."""
        # One address of the loopback network has 28,000 ports for connections to one port.
        local = (self._host, 0) if self._host else None
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=local, limit=1 << 20
        )
        since = "" if self._since is None else f"Last-Event-ID: {self._since}\r\n"
        head = f"GET /v1/inbox/me/stream HTTP/1.1\r\nHost: live\r\n{since}"
        self._writer.write(f"{head}Authorization: Bearer {self._token}\r\n\r\n".encode())
        status = await self._reader.readline()
        if b" 200 " not in status:
            raise ConnectionError(status.decode())

    async def wait_for(self, name: str) -> dict[str, Any]:
        """Return the data of the next event of this name, with the time of its arrival as `at`."""
        assert self._reader is not None
        is_next = False
        while line := await self._reader.readline():
            if line == f"event: {name}\n".encode():
                is_next = True
            elif is_next and line.startswith(b"data: "):
                data: dict[str, Any] = json.loads(line[6:])
                return data | {"at": time.perf_counter()}
        raise ConnectionError("the stream has ended")

    def close(self) -> None:
        """End the connection."""
        if self._writer is not None:
            self._writer.close()
