-- Return the state of the other channels for deliveries of fallback chains: whether another channel has reached the
-- recipient (`reached` has the statuses), and whether the delivery is a fallback in the sense of `rules.fallback`: an
-- earlier channel with an address (an inbox has a negative contact id) has failed without a rejection, or is a
-- push that was accepted. `stopped` has the statuses of a channel that ended before its call, or with a bounce. Locks
-- nothing. Uses the primary keys of delivery and attempt; `floor` and `ceiling` prune partitions.
SELECT r.id, bool_or(d.status = ANY(%(reached)s)) AS is_reached,
       bool_or(d.id < r.id AND d.contact_id > 0 AND d.status <> ALL(%(stopped)s)
               AND (d.sent_at IS NULL OR (d.channel = %(push)s AND d.status <> %(failed)s))
               AND NOT EXISTS (SELECT FROM attempt a
                               WHERE a.delivery_id = d.id AND a.outcome = 'rejected'
                                 AND a.delivery_id >= %(floor)s::uuid AND a.delivery_id < %(ceiling)s::uuid)
       ) AS is_fallback
FROM unnest(%(ids)s::uuid[], %(channels)s::smallint[]) AS r(id, channel)
CROSS JOIN LATERAL (
    SELECT id, channel, status, contact_id, sent_at FROM delivery
    WHERE id > notification_of(r.id) AND id <= last_delivery_of(notification_of(r.id))
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND channel <> r.channel
) d
GROUP BY r.id
