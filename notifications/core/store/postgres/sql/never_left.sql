-- Return those notifications of which no delivery has left or can leave on the channel: each delivery has ended unsent,
-- and no call is unanswered. Parameters: `ids` and `channels` of equal length. Locks nothing. Uses the primary keys: the
-- deliveries and attempts of a notification are one range. `floor` and `ceiling` are constants, so the planner prunes
-- partitions.
SELECT n.id, n.channel
FROM unnest(%(ids)s::uuid[], %(channels)s::smallint[]) AS n(id, channel)
WHERE NOT EXISTS (
    SELECT 1 FROM delivery d
    WHERE d.id > n.id AND d.id <= last_delivery_of(n.id) AND d.channel = n.channel
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND (d.status <> ALL(%(never_left)s) OR d.sent_at IS NOT NULL
           OR EXISTS (SELECT 1 FROM attempt a WHERE a.delivery_id = d.id
                        AND a.delivery_id >= %(floor)s::uuid AND a.delivery_id < %(ceiling)s::uuid
                        AND a.outcome = 'unanswered')))
