-- Make the deliveries of a recipient that a digest choice holds due now; the sweep `digests` decides then whether
-- each waits. Locks in the order of the ids and skips locked rows, which the sweep has taken. Uses
-- notification_by_recipient between `floor` and `ceiling`, then the primary key.
WITH theirs AS MATERIALIZED (
    SELECT id FROM notification
    WHERE recipient_id = %(recipient_id)s AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
), held AS MATERIALIZED (
    SELECT d.id
    FROM theirs t CROSS JOIN LATERAL (
        SELECT d.id, d.status, d.reason FROM delivery d
        WHERE d.id > t.id AND d.id <= last_delivery_of(t.id)
        ORDER BY d.id LIMIT %(devices)s
    ) d
    WHERE d.status = %(scheduled)s AND d.reason = %(reason)s
), picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(ARRAY(SELECT id FROM held)) AND status = %(scheduled)s AND reason = %(reason)s
      AND due_at > now()
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now() WHERE id = ANY(ARRAY(SELECT id FROM picked))
