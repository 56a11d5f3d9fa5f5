-- True if a job runs, if a job with limits may have messages on their way (see the sweep `bulk_jobs`), or if a sample is
-- past its retention. Uses bulk_job_open and bulk_job_sample_age, and reads the jobs.
EXISTS (
    SELECT FROM bulk_job
    WHERE state = 'running'
       OR abort_limits <> '{}' AND (state = 'paused' OR state = 'finished' AND finished_at > %(now)s::timestamptz - interval '3 days')
)
OR EXISTS (SELECT FROM bulk_job_sample WHERE at < %(now)s::timestamptz - interval '1 hour')
