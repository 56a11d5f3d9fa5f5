-- Delete up to `limit` addresses of expanded or deleted bulk jobs. Locks the deleted
-- rows, which no page uses. Reads one entry of the primary key for each job with addresses.
WITH RECURSIVE job AS (
    (SELECT a.job_id FROM bulk_job_address a ORDER BY a.job_id LIMIT 1)
    UNION ALL
    SELECT following.job_id FROM job CROSS JOIN LATERAL (
        SELECT a.job_id FROM bulk_job_address a WHERE a.job_id > job.job_id ORDER BY a.job_id LIMIT 1
    ) following
)
DELETE FROM bulk_job_address
WHERE (job_id, digest) IN (
    SELECT old.job_id, old.digest
    FROM job CROSS JOIN LATERAL (
        SELECT a.job_id, a.digest FROM bulk_job_address a WHERE a.job_id = job.job_id
        ORDER BY a.digest LIMIT %(limit)s::bigint
    ) old
    WHERE NOT EXISTS (SELECT FROM bulk_job b WHERE b.id = job.job_id AND b.finished_at IS NULL)
    LIMIT %(limit)s::bigint
)
