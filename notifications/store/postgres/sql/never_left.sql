-- Which of these notifications never left on a channel, and cannot any more: each delivery ended without being sent, and no call
-- went unanswered. Locks nothing; served by the primary keys, a notification's deliveries and attempts are one range of theirs. The
-- bounds are constants, so that the planner reads their partition and no other.
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
