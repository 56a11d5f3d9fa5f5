-- True if a cancel job is not finished. Uses cancel_job_unfinished.
EXISTS (SELECT FROM notifications_canceljob WHERE finished_at IS NULL)
