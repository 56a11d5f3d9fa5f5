-- Return the live P0 deliveries of all channels since a minute, by producer. Locks nothing. Uses the unique index of
-- rollup_series and the primary key of rollup; `cube` is a constant, so that one partition is read.
SELECT s.producer_id, sum(r.accepted)::bigint AS p0
FROM rollup_series s
JOIN rollup r ON r.cube = %(cube)s AND r.series = s.id AND r.bucket >= %(since)s
WHERE s.dimension_set = %(dimension_set)s AND s.mode = %(mode)s AND s.producer_id > 0 AND s.priority = %(priority)s
  AND r.accepted IS NOT NULL
GROUP BY s.producer_id
