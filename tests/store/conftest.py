"""Fixtures of `tests.store.stored_rows`, by their names."""

from tests.store.stored_rows import make_delivery

__all__ = ["make_delivery"]
