-- Return the ended live deliveries of each channel since an instant, in the minutes of the roll-ups: `sent`, `returned` (bounced or
-- failed after the acceptance by the provider), and `ended` otherwise (failed, or expired for a reason of `ours`).
-- Locks nothing. Uses rollup_bucket or the primary key of the partition of `cube`, which is a constant, so that the
-- rows of a few minutes are read, with any number of deliveries.
SELECT s.channel,
       coalesce(sum(r.sent), 0)::bigint AS sent,
       coalesce(sum(r.bounced), 0)::bigint
           + coalesce(sum(r.failed) FILTER (WHERE s.reason = ANY(%(after_sent)s)), 0)::bigint AS returned,
       coalesce(sum(r.failed) FILTER (WHERE s.reason <> ALL(%(after_sent)s)), 0)::bigint
           + coalesce(sum(r.expired) FILTER (WHERE s.reason = ANY(%(ours)s)), 0)::bigint AS ended
FROM rollup r
JOIN rollup_series s ON s.id = r.series AND s.dimension_set = %(dimension_set)s AND s.mode = %(mode)s
WHERE r.cube = %(cube)s AND r.bucket >= %(since)s
GROUP BY s.channel
