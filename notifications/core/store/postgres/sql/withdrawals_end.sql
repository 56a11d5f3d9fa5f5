-- Delete withdrawals and insert an event each; a withdrawal that another process has ended gets no second event. Locks the deleted
-- rows. Uses the primary key.
WITH ended AS (
    SELECT unnest(%(ids)s::uuid[]) AS id, unnest(%(reasons)s::text[]) AS reason, unnest(%(details)s::text[]) AS detail
), gone AS (
    DELETE FROM withdrawal
    WHERE delivery_id = ANY(ARRAY(
        SELECT delivery_id FROM withdrawal WHERE delivery_id = ANY(%(ids)s::uuid[]) ORDER BY delivery_id FOR UPDATE))
    RETURNING delivery_id
)
INSERT INTO event (notification_id, delivery_id, reason, detail, at)
SELECT notification_of(e.id), e.id, e.reason, e.detail, now() FROM ended e JOIN gone g ON g.delivery_id = e.id
RETURNING delivery_id
