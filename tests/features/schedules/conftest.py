"""A producer and recipients, as in `tests.journey`."""

from tests.journey import caller, reach

__all__ = ["caller", "reach"]
