-- Delete up to `limit` samples from before an instant. Locks the rows. Uses bulk_job_sample_age.
DELETE FROM bulk_job_sample
WHERE id IN (
    SELECT id FROM bulk_job_sample WHERE at < %(before)s::timestamptz ORDER BY at LIMIT %(limit)s::bigint
)
