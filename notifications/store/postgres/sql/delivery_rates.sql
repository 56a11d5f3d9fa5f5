-- Return the ended live deliveries of each channel among the newest `most` deliveries of an id range: good ones (sent,
-- delivered, read) and bad ones (failed, bounced). Locks nothing. Uses the primary key backwards; `floor` and `ceiling`
-- are constants, so the planner prunes partitions.
SELECT channel,
       count(*) FILTER (WHERE status = ANY(%(good)s)) AS good,
       count(*) FILTER (WHERE status = ANY(%(bad)s)) AS bad
FROM (
    SELECT channel, status, mode FROM delivery
    WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id DESC
    LIMIT %(most)s
) newest
WHERE mode = %(mode)s
GROUP BY channel
