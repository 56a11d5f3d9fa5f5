"""Received deliveries: each delivery with all calls, and the displayed messages.

In memory, bounded; with a journal also in a file, one JSON line per call, written before the call
is answered. `os.write` passes the line to the kernel, so the line survives the end of the process
(not of the machine).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson

KEEP: Final = 50_000
"""Number of kept deliveries: about 100 MB, enough for the largest scenario. Totals go on
counting."""


@dataclass(slots=True, kw_only=True)
class RecordedCall:
    """A POST about a delivery."""

    at: str
    """ISO 8601, UTC."""
    idempotency_key: str
    effect: str
    """`shown`, `duplicate` (recognised by the key, not shown again), `withdrawn` (a removal) or
    `refused`."""
    status: int
    """Status of the answer; 0: no answer."""
    message_id: str = ""
    traceparent: str = ""
    user_agent: str = ""


@dataclass(slots=True, kw_only=True)
class DeliveryRecord:
    """All calls about a delivery."""

    message: dict[str, Any]
    """The first call's body as received."""
    calls: list[RecordedCall] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    accepted: dict[str, str] = field(default_factory=dict)
    """Message ids by idempotency key."""

    @property
    def shown(self) -> int:
        """Return the number of times that the message was shown."""
        return sum(call.effect == "shown" for call in self.calls)

    def as_json(self) -> dict[str, Any]:
        """Return the entry for /messages.json."""
        return {
            **self.message,
            "idempotency_key": self.calls[-1].idempotency_key,
            "message_id": next((call.message_id for call in self.calls if call.message_id), ""),
            "call_count": len(self.calls),
            "shown": self.shown,
            "withdrawn": any(call.effect == "withdrawn" for call in self.calls),
            "deduplicated": any(call.effect == "duplicate" for call in self.calls),
            "first_at": self.calls[0].at,
            "last_at": self.calls[-1].at,
            "calls": [asdict(call) for call in self.calls],
            "receipts": self.receipts,
        }


class Ledger:
    """Entries by delivery id, oldest first."""

    def __init__(self, *, journal: Path | None = None, keep: int = KEEP) -> None:
        """Read an existing journal; older lines beyond `keep` are dropped."""
        self._entries: dict[str, DeliveryRecord] = {}
        self._totals: Counter[str] = Counter()
        self._keep = keep
        self._path = journal
        self._file: int | None = None
        if journal is not None:
            journal.parent.mkdir(parents=True, exist_ok=True)
            self._load(journal)
            self._rewrite(journal)

    def entry(self, message: dict[str, Any]) -> DeliveryRecord:
        """Return a delivery's entry, or add an entry."""
        return self._entries.get(message["delivery_id"]) or DeliveryRecord(message=message)

    def record(self, entry: DeliveryRecord, call: RecordedCall) -> None:
        """Store a call, in the journal first."""
        if self._file is not None:
            os.write(self._file, _line(entry, call))
        self._keep_call(entry, call)

    def select(
        self, *, equal: dict[str, str], since: datetime | None = None, limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Return entries by values of the message, oldest first; `limit` keeps the newest."""
        if "delivery_id" in equal:
            found = [e for e in [self._entries.get(equal["delivery_id"])] if e is not None]
        else:
            found = list(self._entries.values())
        chosen = [
            entry
            for entry in found
            if all(str(entry.message.get(name)) == value for name, value in equal.items())
            and (since is None or datetime.fromisoformat(entry.calls[-1].at) >= since)
        ]
        return [entry.as_json() for entry in (chosen[-limit:] if limit else chosen)]

    def newest_first(self) -> Iterator[DeliveryRecord]:
        """Give every entry, the newest delivery first."""
        return reversed(self._entries.values())

    def stats(self) -> dict[str, int]:
        """Give totals since the last `clear`, evicted entries included."""
        names = ("calls", "accepted", "refused", "shown", "deduplicated", "duplicates_shown")
        return {"deliveries": len(self._entries)} | {name: self._totals[name] for name in names}

    def clear(self) -> None:
        """Remove all entries, the journal included."""
        self._entries.clear()
        self._totals.clear()
        if self._file is not None:
            os.ftruncate(self._file, 0)

    def _keep_call(self, entry: DeliveryRecord, call: RecordedCall) -> None:
        totals = self._totals
        totals["calls"] += 1
        if call.effect == "refused":
            totals["refused"] += 1
        else:
            totals["accepted"] += 1
            totals["deduplicated" if call.effect == "duplicate" else call.effect] += 1
            totals["duplicates_shown"] += call.effect == "shown" and entry.shown > 0
            entry.accepted.setdefault(call.idempotency_key, call.message_id)
        entry.calls.append(call)
        self._entries.setdefault(entry.message["delivery_id"], entry)
        if len(self._entries) > self._keep:
            del self._entries[next(iter(self._entries))]

    def _load(self, journal: Path) -> None:
        for line in _lines(journal):
            self._keep_call(self.entry(line["message"]), RecordedCall(**line["call"]))

    def _rewrite(self, journal: Path) -> None:
        """Replace the journal by the kept entries, so that the journal cannot grow without end."""
        fresh = journal.with_name(journal.name + ".new")
        with fresh.open("wb") as file:
            for entry in self._entries.values():
                file.writelines(_line(entry, call) for call in entry.calls)
        fresh.replace(journal)
        self._file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)


def _line(entry: DeliveryRecord, call: RecordedCall) -> bytes:
    return orjson.dumps({"message": entry.message, "call": call}) + b"\n"


def _lines(journal: Path) -> Iterator[dict[str, Any]]:
    if not journal.exists():
        return
    with journal.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # a line cut off by a full disk was never answered
                yield orjson.loads(line)
