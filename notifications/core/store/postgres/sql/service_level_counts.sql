-- Return the counts of live deliveries since an instant in the roll-ups of one step, for each window. Locks nothing. Reads
-- the rows of the longest window once; `cube` is a constant, so that one partition is read.
WITH buckets AS MATERIALIZED (
    SELECT r.bucket,
           sum(r.sent) AS sent,
           sum(coalesce(r.failed, 0) + coalesce(r.expired, 0) + coalesce(r.unknown, 0))
               FILTER (WHERE s.reason = ANY(%(ours)s)) AS ours,
           sum(r.failed) FILTER (WHERE s.reason = 'permanent') AS permanent,
           sum(r.unknown) FILTER (WHERE s.reason <> ALL(%(ours)s)) AS unknown,
           sum(r.sent_after_retry) AS sent_after_retry,
           sum(r.failed_after_retry) AS failed_after_retry
    FROM rollup_series s
    JOIN rollup r ON r.cube = %(cube)s AND r.series = s.id AND r.bucket >= %(since)s
    WHERE s.dimension_set = %(dimension_set)s AND s.mode = %(mode)s
    GROUP BY r.bucket
)
SELECT w.seconds,
       coalesce(sum(b.sent), 0)::bigint AS sent,
       coalesce(sum(b.ours), 0)::bigint AS ours,
       coalesce(sum(b.permanent), 0)::bigint AS permanent,
       coalesce(sum(b.unknown), 0)::bigint AS unknown,
       coalesce(sum(b.sent_after_retry), 0)::bigint AS sent_after_retry,
       coalesce(sum(b.failed_after_retry), 0)::bigint AS failed_after_retry
FROM unnest(%(windows)s::bigint[]) AS w (seconds)
LEFT JOIN buckets b ON b.bucket >= %(now)s::timestamptz - w.seconds * interval '1 second'
GROUP BY w.seconds
