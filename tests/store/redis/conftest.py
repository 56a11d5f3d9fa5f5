"""Fixtures of `tests.journey`, by their names."""

from tests.journey import caller, outbox, reach, take

__all__ = ["caller", "outbox", "reach", "take"]
