-- Return the merged sketch of a latency for each bucket and group, and for each group without a bucket; `totals_only`
-- leaves the buckets out. `by` has columns of rollup_series, `filters` columns with values. A group has its number `place`
-- in all rows and its values `key` in the row without a bucket, because a key in each row takes as long as a sketch. An
-- answer of more than `limit` rows is cut.
-- A sketch comes in the binary form, which leaves the zeros at the end out.
-- Locks nothing. Uses the primary key of one partition for each series. Groups have numbers, because Postgres groups by
-- numbers faster than by jsonb.
WITH chosen AS MATERIALIZED (
    SELECT s.id, k.key, dense_rank() OVER (ORDER BY k.key) AS place
    FROM rollup_series s
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_agg(to_jsonb(s) -> name ORDER BY nth), '[]') AS key
        FROM unnest(%(by)s::text[]) WITH ORDINALITY AS u(name, nth)
    ) k
    WHERE s.dimension_set = %(dimension_set)s::smallint AND s.reason = '' AND to_jsonb(s) @> %(filters)s::jsonb
), merged AS MATERIALIZED (
    SELECT r.bucket, c.place, sum(r.sketch) AS sketch
    FROM chosen c
    JOIN rollup_latency r ON r.cube = %(cube)s::smallint AND r.series = c.id AND r.kind = %(kind)s::smallint
    WHERE r.bucket >= %(start)s::timestamptz AND r.bucket < %(end)s::timestamptz
    GROUP BY r.bucket, c.place
)
SELECT m.bucket, m.place, CASE WHEN m.bucket IS NULL THEN g.key END AS key, numeric_send(m.sketch) AS sketch
FROM (
    SELECT bucket, place, sketch FROM merged WHERE NOT %(totals_only)s::boolean
    UNION ALL
    SELECT NULL, place, sum(sketch) FROM merged GROUP BY place
) m
JOIN (SELECT DISTINCT place, key FROM chosen) g USING (place)
LIMIT %(limit)s::bigint
