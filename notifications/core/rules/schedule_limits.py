"""Limits of recurring schedules, for the table, the API and `/v1/me`."""

from __future__ import annotations

from typing import Final

MAX_SCHEDULES: Final = 1_000
"""Schedules of a producer in a mode."""
MAX_RULE_LENGTH: Final = 300
"""Characters of a recurrence rule."""
