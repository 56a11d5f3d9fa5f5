"""Pages for operators: budgets with the money of the day, and the costs of a month."""

from notifications.features.money.admin import budgets

__all__ = ["budgets"]
