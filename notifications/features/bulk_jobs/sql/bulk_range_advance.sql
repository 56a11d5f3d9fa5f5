-- Move the checkpoint of a range from the value that the page began with, and add the counters of the page, while the
-- job runs. No changed row means: another expander has moved the checkpoint, or the job was paused or ended. The
-- caller holds the lock of the range. Uses the primary keys.
UPDATE bulk_job_range r
SET cursor = %(new)s, examined = r.examined + %(examined)s, accepted = r.accepted + %(accepted)s,
    left_out = %(left_out)s::jsonb, finished_at = CASE WHEN %(is_done)s THEN now() END
FROM bulk_job j
WHERE r.id = %(range)s AND r.cursor = %(old)s AND r.finished_at IS NULL
  AND j.id = r.job_id AND j.state = %(running)s
