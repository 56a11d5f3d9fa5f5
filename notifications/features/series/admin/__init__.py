"""Pages for operators: series with figures, enrolments with histories."""

from notifications.features.series.admin import enrolments, series

__all__ = ["enrolments", "series"]
