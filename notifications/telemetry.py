"""The wide line of each provider call: everything an operator asks of it later, and no address.

Written straight to standard error, one write a batch: at thousands of calls a second a logging
framework's path would cost as much as the calls. The format is that of every other line (JSON,
sorted, `event`, `level`, `timestamp`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import orjson

from notifications import clock


def write_calls(lines: Sequence[dict[str, Any]]) -> None:
    """Write one `provider_call` line for each dict of fields, which get the shared ones as well."""
    shared = {
        "event": "provider_call",
        "level": "info",
        "logger": "notifications.calls",
        "timestamp": clock.now(),
    }
    for line in lines:
        line.update(shared)
    options = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    sys.stderr.buffer.write(b"".join([orjson.dumps(line, option=options) for line in lines]))
    sys.stderr.buffer.flush()
