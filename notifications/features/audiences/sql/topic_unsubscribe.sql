-- Delete subscribers of a topic; return the existing recipients, and which of them were subscribers. Uses
-- recipient_once_per_mode and the primary key of topic_subscriber.
WITH found AS MATERIALIZED (
    SELECT r.id, r.user_id
    FROM notifications_recipient r
    WHERE r.mode = %(mode)s AND r.user_id = ANY (%(user_ids)s::text[])
), removed AS (
    DELETE FROM topic_subscriber s
    WHERE s.topic_id = %(topic)s AND s.recipient_id = ANY (ARRAY(SELECT f.id FROM found f))
    RETURNING s.recipient_id
)
SELECT f.user_id, x.recipient_id IS NOT NULL AS is_changed
FROM found f LEFT JOIN removed x ON x.recipient_id = f.id
