"""Operators, a browser and messages, as in `tests/admin`."""

from tests.admin.conftest import make_delivery, maria
from tests.features.operators import *  # noqa: F403 - fixtures

__all__ = ["make_delivery", "maria"]
