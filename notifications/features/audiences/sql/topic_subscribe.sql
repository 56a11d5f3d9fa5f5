-- Insert subscribers of a topic in id order; return the existing recipients, and which of them are new subscribers.
-- A KEY SHARE lock on each recipient makes an erasure wait, so no row stays of an erased recipient. A topic that was
-- deleted meanwhile gets no subscriber. Uses recipient_once_per_mode and the primary keys of topic and topic_subscriber.
WITH found AS MATERIALIZED (
    SELECT r.id, r.user_id
    FROM notifications_recipient r
    WHERE r.mode = %(mode)s AND r.user_id = ANY (%(user_ids)s::text[])
    ORDER BY r.id
    FOR KEY SHARE
), added AS (
    INSERT INTO topic_subscriber (topic_id, recipient_id)
    SELECT t.id, f.id FROM found f JOIN topic t ON t.id = %(topic)s AND t.deleted_at IS NULL ORDER BY f.id
    ON CONFLICT DO NOTHING
    RETURNING recipient_id
)
SELECT f.user_id, a.recipient_id IS NOT NULL AS is_changed
FROM found f LEFT JOIN added a ON a.recipient_id = f.id
