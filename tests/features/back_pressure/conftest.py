"""Fixtures of sweeps and of `tests.journey`."""

from tests.journey import caller, reach
from tests.sweeps.conftest import broker, make_row

__all__ = ["broker", "caller", "make_row", "reach"]
