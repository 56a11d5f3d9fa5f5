-- Store the progress of each running job without a sample since `after`. Locks nothing but the new rows. Uses
-- bulk_job_open, one_range, one_bulk_job_sample and the primary key of bulk_job_figure.
INSERT INTO bulk_job_sample (job_id, at, examined, accepted, sent)
SELECT b.id, %(now)s::timestamptz, r.examined, r.accepted, f.sent
FROM bulk_job b
CROSS JOIN LATERAL (
    SELECT coalesce(sum(examined), 0) AS examined, coalesce(sum(accepted), 0) AS accepted
    FROM bulk_job_range WHERE job_id = b.id
) r
CROSS JOIN LATERAL (
    SELECT coalesce(sum(count), 0) AS sent
    FROM bulk_job_figure WHERE job_id = b.id AND kind = 'total' AND name = 'sent'
) f
WHERE b.state = 'running'
  AND NOT EXISTS (SELECT FROM bulk_job_sample s WHERE s.job_id = b.id AND s.at > %(after)s::timestamptz)
ON CONFLICT (job_id, at) DO NOTHING
