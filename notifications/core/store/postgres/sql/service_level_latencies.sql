-- Return the merged sketch of live deliveries of a priority since an instant, for each window.
-- Locks nothing. Reads the sketches of the longest window once, by the primary key of rollup_latency for each series.
WITH buckets AS MATERIALIZED (
    SELECT r.bucket, sum(r.sketch) AS sketch
    FROM rollup_series s
    JOIN rollup_latency r ON r.cube = %(cube)s AND r.series = s.id AND r.kind = %(kind)s AND r.bucket >= %(since)s
    WHERE s.dimension_set = %(dimension_set)s AND s.mode = %(mode)s AND s.priority = %(priority)s
    GROUP BY r.bucket
)
SELECT w.seconds, coalesce(sum(b.sketch), 0)::text AS sketch
FROM unnest(%(windows)s::bigint[]) AS w (seconds)
LEFT JOIN buckets b ON b.bucket >= %(now)s::timestamptz - w.seconds * interval '1 second'
GROUP BY w.seconds
