"""Operators and a browser, as in `tests/admin`."""

from tests.features.operators import *  # noqa: F403 - fixtures
