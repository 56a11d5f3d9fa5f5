-- Return the deliveries of these notifications, at most `most` each; `waits` marks due deliveries without a contact.
-- Locks nothing: the caller has locked the notifications, so no delivery is added meanwhile. Uses the primary key;
-- `floor` and `ceiling` prune partitions.
SELECT d.id, d.channel, d.mode, d.priority, d.recipient_id, d.falls_back,
       d.status = %(scheduled)s AND d.contact_id IS NULL AND d.due_at <= now() AS waits
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT * FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id)
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id LIMIT %(most)s
) d
