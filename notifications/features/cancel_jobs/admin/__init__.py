"""Pages for operators: the form of a cancel job, and its progress."""

from notifications.features.cancel_jobs.admin import cancel_jobs

__all__ = ["cancel_jobs"]
