"""Fixtures of `tests.journey`, by their names."""

from tests.journey import caller, reach, take

__all__ = ["caller", "reach", "take"]
