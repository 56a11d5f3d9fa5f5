-- Return whether a recipient has an open delivery. Locks nothing. Uses notification_by_recipient and the primary key of
-- delivery.
SELECT EXISTS (
    SELECT FROM notification n
    CROSS JOIN LATERAL (
        SELECT FROM delivery d
        WHERE d.id > n.id AND d.id <= last_delivery_of(n.id) AND d.due_at IS NOT NULL
        LIMIT 1
    ) open
    WHERE n.recipient_id = %(recipient)s
) AS has_open
