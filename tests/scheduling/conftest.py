"""Fixtures of other modules of `tests`, by their names."""

from tests.journey import caller, outbox, reach, scripted, take
from tests.sweep_conditions import compared_conditions

__all__ = ["caller", "compared_conditions", "outbox", "reach", "scripted", "take"]
