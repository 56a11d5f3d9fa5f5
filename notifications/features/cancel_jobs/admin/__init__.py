"""Pages for operators: the form and the progress of a cancel job."""

from notifications.features.cancel_jobs.admin import cancel_jobs

__all__ = ["cancel_jobs"]
