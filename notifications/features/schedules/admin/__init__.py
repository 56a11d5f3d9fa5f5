"""Pages for operators: schedules with occurrences."""

from notifications.features.schedules.admin import schedules

__all__ = ["schedules"]
