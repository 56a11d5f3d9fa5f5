"""Operators, a browser, messages and roll-ups, as in `tests/admin` and `tests/figures`."""

from tests.admin.conftest import make_delivery, maria
from tests.features.operators import *  # noqa: F403 - fixtures
from tests.figures.conftest import make_rollup

__all__ = ["make_delivery", "make_rollup", "maria"]
