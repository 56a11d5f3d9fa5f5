-- Return a page of the deliveries of each recipient that the recipient's settings hold, in the order of the ids, behind
-- the delivery `after`. Locks nothing. Uses delivery_held, once for each recipient and partition, and the primary key
-- of the notifications; `floor` and `ceiling` are constants, so the planner prunes partitions of both tables.
SELECT d.recipient_id, d.id, d.priority, d.channel, d.reason, d.due_at, n.producer_id, n.type, n.category,
       greatest(n.created_at, n.scheduled_at) AS begins_at
FROM unnest(%(recipients)s::bigint[], %(after)s::uuid[]) AS whose(recipient_id, after)
CROSS JOIN LATERAL (
    SELECT recipient_id, id, priority, channel, reason, due_at FROM delivery
    WHERE recipient_id = whose.recipient_id
      AND reason IN ('do_not_disturb', 'quiet_hours', 'producers_night', 'cap', 'digest')
      AND id > whose.after AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND status = %(scheduled)s AND due_at > now()
    ORDER BY id
    LIMIT %(page)s
) d
JOIN LATERAL (
    SELECT producer_id, type, category, created_at, scheduled_at FROM notification
    WHERE id = notification_of(d.id) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    LIMIT 1
) n ON true
ORDER BY d.recipient_id, d.id
