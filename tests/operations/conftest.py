"""Fixtures of `tests.journey`, by their names."""

from tests.journey import add_vendor, caller, outbox, reach, scripted, take

__all__ = ["add_vendor", "caller", "outbox", "reach", "scripted", "take"]
