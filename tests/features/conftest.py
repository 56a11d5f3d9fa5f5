"""Fixtures of other modules of `tests`, by their names."""

from tests.journey import add_vendor, caller, outbox, reach, scripted, take
from tests.preference_browser import chrome, maria
from tests.rabbitmq_node import node
from tests.store.stored_rows import make_delivery
from tests.sweep_conditions import compared_conditions

__all__ = [
    "add_vendor",
    "caller",
    "chrome",
    "compared_conditions",
    "make_delivery",
    "maria",
    "node",
    "outbox",
    "reach",
    "scripted",
    "take",
]
