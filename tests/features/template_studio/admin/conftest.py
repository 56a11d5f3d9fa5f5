"""Operators, a browser and roll-ups, as in `tests/admin` and `tests/figures`."""

from tests.features.operators import *  # noqa: F403 - fixtures
from tests.figures.conftest import make_rollup

__all__ = ["make_rollup"]
