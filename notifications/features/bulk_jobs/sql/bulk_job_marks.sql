-- Return the oldest sample since an instant of each job. Locks nothing. Uses one_bulk_job_sample.
SELECT w.id AS job_id, s.at, s.examined, s.accepted
FROM unnest(%(ids)s::uuid[]) AS w(id)
CROSS JOIN LATERAL (
    SELECT at, examined, accepted FROM bulk_job_sample
    WHERE job_id = w.id AND at >= %(since)s::timestamptz
    ORDER BY at
    LIMIT 1
) s
