-- True if a job runs, starts now, or is stopped and has messages to cancel. Uses bulk_job_open, except for stopped jobs.
EXISTS (SELECT FROM bulk_job WHERE state = 'running' OR (state = 'scheduled' AND starts_at <= %(now)s::timestamptz))
OR EXISTS (SELECT FROM bulk_job WHERE state IN ('cancelled', 'aborted') AND finished_at IS NULL)
