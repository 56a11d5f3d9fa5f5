"""Pages for operators: series with their figures, enrolments with their history."""

from notifications.features.series.admin import enrolments, series

__all__ = ["enrolments", "series"]
