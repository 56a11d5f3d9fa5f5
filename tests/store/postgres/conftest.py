"""Fixtures of `tests.journey`, by their names."""

from tests.journey import caller, outbox, reach, scripted, take

__all__ = ["caller", "outbox", "reach", "scripted", "take"]
