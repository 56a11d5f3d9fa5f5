-- Return the sums of the ranges of jobs. Locks nothing. Uses one_range.
SELECT r.job_id,
       sum(r.examined)::bigint AS examined,
       sum(r.accepted)::bigint AS accepted,
       sum(r.until - r.first)::bigint AS ids,
       sum(CASE WHEN r.finished_at IS NULL THEN r.cursor ELSE r.until END - r.first)::bigint AS ids_done,
       max(r.starts_at) FILTER (WHERE r.finished_at IS NULL) AS last_start,
       (SELECT jsonb_object_agg(l.reason, l.recipients ORDER BY l.recipients DESC, l.reason)
        FROM (SELECT e.key AS reason, sum(e.value::bigint)::bigint AS recipients
              FROM bulk_job_range o CROSS JOIN LATERAL jsonb_each_text(o.left_out) e
              WHERE o.job_id = r.job_id
              GROUP BY e.key) l) AS left_out
FROM bulk_job_range r
WHERE r.job_id = ANY(%(ids)s::uuid[])
GROUP BY r.job_id
