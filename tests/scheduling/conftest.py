"""Fixtures of `tests.journey`, by their names."""

from tests.journey import caller, outbox, reach, sandbox, scripted, take

__all__ = ["caller", "outbox", "reach", "sandbox", "scripted", "take"]
