"""Fixtures of roll-ups."""

from tests.figures.conftest import make_rollup

__all__ = ["make_rollup"]
