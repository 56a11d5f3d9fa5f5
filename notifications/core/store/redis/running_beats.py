"""The running beats of the installation: one is enough, and a second one is a mistake.

Each beat writes a number, one higher at each look, below its host and process id. Another beat runs
if its number changes from look to look. The number of an ended beat never changes, so a beat that
restarts is not two beats. A lost state Redis loses the numbers, and the next looks write them anew;
while the state Redis is away, the last result holds.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import Final, cast

from notifications.core.store.redis import state

_KEY: Final = "beats"
_SILENT_LOOKS: Final = 2
"""Looks without a change after which a beat has ended. Two beats look at unequal intervals, so a
running beat can miss one."""
_FORGOTTEN_LOOKS: Final = 6
"""Looks without a change after which the number is deleted."""


@dataclass(slots=True)
class _Seen:
    """Another beat, as the last look found it."""

    value: bytes
    silent_looks: int = _SILENT_LOOKS
    """Looks without a change; a beat that was seen once only counts as ended."""

    @property
    def runs(self) -> bool:
        return self.silent_looks < _SILENT_LOOKS


class RunningBeats:
    """The beats of the installation, seen by one of them.

    Args:
        host: the name of this beat's machine.
    """

    def __init__(self, host: str) -> None:
        self._label = f"{host} (process {os.getpid()})"
        # Two containers can have one host name and process id.
        self._field = f"{self._label} {secrets.token_hex(4)}".encode()
        self._looks = 0
        self._others: dict[bytes, _Seen] = {}

    def fault(self) -> str:
        """Look once; return "runs" with each beat if there are several, empty for one beat."""
        self._looks += 1
        try:
            with state.connection() as redis:
                redis.hset(_KEY, self._field.decode(), self._looks)
                values = cast("dict[bytes, bytes]", redis.hgetall(_KEY))
                values.pop(self._field, None)
                self._compare(values)
                if gone := self._forgotten():
                    redis.hdel(_KEY, *gone)
        except state.Away:
            pass  # `fallbacks.STATE` reports it
        running = [_label(field) for field, seen in self._others.items() if seen.runs]
        if not running:
            return ""
        places = " and ".join(sorted([self._label, *running]))
        return f"runs {len(running) + 1} times, on {places}"

    def _compare(self, values: dict[bytes, bytes]) -> None:
        self._others = {
            field: _next(self._others.get(field), value) for field, value in values.items()
        }

    def _forgotten(self) -> list[bytes]:
        return [f for f, seen in self._others.items() if seen.silent_looks >= _FORGOTTEN_LOOKS]


def _next(seen: _Seen | None, value: bytes) -> _Seen:
    if seen is None:
        return _Seen(value)
    return _Seen(value, 0 if value != seen.value else seen.silent_looks + 1)


def _label(field: bytes) -> str:
    return field.decode().rpartition(" ")[0]
