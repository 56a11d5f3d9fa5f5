-- Return the spans in which a provider accepted some live deliveries longer than `age` ago: the deliveries of a span, and the
-- number of all deliveries that the provider accepted in the span, by the roll-ups. A span is a minute with at least `busy`
-- accepted deliveries, or the other minutes of an hour together. Locks nothing. Uses the primary key of delivery, where
-- `floor` and `ceiling` prune partitions, and the primary key of the partition of `cube`.
WITH series AS MATERIALIZED (
    SELECT id FROM rollup_series
    WHERE dimension_set = %(dimension_set)s AND mode = %(mode)s AND provider = %(provider)s AND reason = ''
), late AS MATERIALIZED (
    SELECT id, date_bin('1 minute', sent_at, 'epoch') AS minute, date_bin('1 hour', sent_at, 'epoch') AS hour
    FROM delivery
    WHERE id = ANY(%(ids)s::uuid[]) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND provider = %(provider)s AND mode = %(mode)s AND sent_at < now() - %(age)s::interval
), minutes AS MATERIALIZED (
    SELECT h.hour, r.bucket AS minute, sum(r.sent) AS sent, sum(r.sent) >= %(busy)s AS is_busy
    FROM (SELECT DISTINCT hour FROM late) h
    JOIN rollup r ON r.cube = %(cube)s AND date_bin('1 hour', r.bucket, 'epoch') = h.hour
        AND r.series IN (SELECT id FROM series)
        AND r.bucket >= (SELECT min(hour) FROM late)
        AND r.bucket < (SELECT max(hour) FROM late) + interval '1 hour'
    GROUP BY h.hour, r.bucket
), counts AS (
    SELECT CASE WHEN is_busy THEN minute ELSE hour END AS begin, is_busy, sum(sent) AS sent
    FROM minutes GROUP BY 1, 2
), spans AS (
    SELECT CASE WHEN m.is_busy THEN l.minute ELSE l.hour END AS begin, coalesce(m.is_busy, false) AS is_busy,
        array_agg(l.id) AS ids
    FROM late l LEFT JOIN minutes m ON m.minute = l.minute
    GROUP BY 1, 2
)
SELECT s.begin, s.is_busy, s.ids, greatest(cardinality(s.ids), coalesce(c.sent, 0))::bigint AS sent
FROM spans s
LEFT JOIN counts c ON c.begin = s.begin AND c.is_busy = s.is_busy
