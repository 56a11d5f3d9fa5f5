-- All deliveries of these notifications, and which of them wait for their contact and are due. Locks nothing; the caller holds the
-- notifications' locks, so nobody adds a delivery meanwhile. Served by the primary key, between bounds that prune.
SELECT d.id, d.channel, d.mode, d.priority, d.recipient_id,
       d.status = %(scheduled)s AND d.contact_id IS NULL AND d.due_at <= now() AS waits
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT * FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id)
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id LIMIT %(most)s
) d
