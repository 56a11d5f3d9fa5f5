"""Fixtures of `tests.journey` and `tests.store.stored_rows`, by their names."""

from tests.journey import add_vendor, caller, outbox, reach, scripted, take
from tests.store.stored_rows import make_delivery

__all__ = [
    "add_vendor",
    "caller",
    "make_delivery",
    "outbox",
    "reach",
    "scripted",
    "take",
]
