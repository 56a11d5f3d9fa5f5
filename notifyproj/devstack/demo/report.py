"""Output of a story: sentences, tables and the results of checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

Line = Sequence[object]


class Report:
    """Prints a story line by line and collects the failed checks."""

    def __init__(self, title: str, *, say: Callable[[str], None]) -> None:
        self._say = say
        self._broken: list[str] = []
        say("")
        say(title)

    @property
    def broken(self) -> list[str]:
        """The failed checks; empty: every check held."""
        return self._broken

    def say(self, text: str) -> None:
        """Print an indented sentence."""
        self._say(f"  {text}")

    def check(self, promise: str, *, held: bool) -> None:
        """Print a promise and its result; collect the promise if the check failed."""
        self.say(f"{'ok ' if held else 'NOT'} {promise}")
        if not held:
            self._broken.append(promise)

    def table(self, heads: Sequence[str], lines: Sequence[Line]) -> None:
        """Print a table with aligned columns."""
        rows = [list(heads), *([str(cell) for cell in line] for line in lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.say("  " + "  ".join(cells).rstrip())

    def timeline(self, notification: dict[str, Any]) -> None:
        """Print a notification's events: seconds since the acceptance, channel, status, reason."""
        born = instant(notification["created_at"])
        channels = {each["delivery_id"]: each["channel"] for each in notification["deliveries"]}
        self.table(
            ("after", "channel", "status", "reason"),
            [
                (
                    f"{(instant(event['at']) - born).total_seconds():6.2f} s",
                    channels.get(event["delivery_id"], ""),
                    event["status"] or "",
                    event["reason"],
                )
                for event in notification["timeline"]
            ],
        )


def instant(text: str) -> datetime:
    """Read an instant in the format of the API and the sandbox."""
    return datetime.fromisoformat(text)
