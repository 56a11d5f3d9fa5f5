"""Writes `_sync` from `_async`: `python -m tests.clients.python.sync_files`.

The two differ in these words alone, so that a method that one has is in the other.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.clients.python.types_file import formatted

PACKAGE: Final = Path(__file__).parents[3] / "clients/python/src/notify_client"
_WORDS: Final = (
    (r"\basync_sleep\b", "sleep"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync([A-Z])", r"\1"),
    (r"\b_async\b", "_sync"),
    (r"__a(iter|enter|exit)__", r"__\1__"),
    ("The client for asyncio", "The client for threads: generated from `_async`"),
)


def sources() -> dict[str, str]:
    """File -> its source."""
    return {path.name: _made(path.read_text()) for path in (PACKAGE / "_async").glob("*.py")}


def _made(text: str) -> str:
    for old, new in _WORDS:
        text = re.sub(old, new, text)
    return formatted(text)


if __name__ == "__main__":
    for name, made in sources().items():
        (PACKAGE / "_sync" / name).write_text(made)
