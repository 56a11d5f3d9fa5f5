"""Pages for operators: schedules with their occurrences."""

from notifications.features.schedules.admin import schedules

__all__ = ["schedules"]
