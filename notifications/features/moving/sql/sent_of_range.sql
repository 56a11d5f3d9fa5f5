-- Channels of notifications in a range of ids, for `comparison`: a row for each notification and
-- channel, or one row without a channel. Reads the daily partitions of the range by their primary
-- keys, locks nothing. A push to three devices is one row, that of a delivery that was sent, if
-- there is one.
SELECT n.id,
       n.user_id,
       n.type,
       d.channel,
       d.status,
       d.reason
FROM (
    SELECT id, user_id, type
    FROM notification
    WHERE id > %(after)s AND id < %(until)s AND mode = %(mode)s
    ORDER BY id
    LIMIT %(limit)s
) AS n
LEFT JOIN LATERAL (
    SELECT DISTINCT ON (channel) channel, status, reason
    FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id)
    ORDER BY channel, status = ANY(%(sent)s) DESC, id
) AS d ON true
ORDER BY n.id, d.channel
