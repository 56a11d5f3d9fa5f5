"""Rows of notifications and a broker, as in `tests/sweeps`."""

from tests.sweeps.conftest import _no_old_answers, broker, make_row

__all__ = ["_no_old_answers", "broker", "make_row"]
