"""Pages for operators.

bulk_jobs, page        bulk jobs with progress; pause, resume and cancel
outcome                results of a bulk job in words and plots
job_calendar           month or week of bulk jobs
composer, compose_*    form of a bulk job with live figures, previews and checks
job_words              sentence of a draft and of a stored job
"""

from notifications.features.bulk_jobs.admin import bulk_jobs

__all__ = ["bulk_jobs"]
