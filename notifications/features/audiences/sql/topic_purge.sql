-- Delete the first subscribers of a deleted topic. Locks the deleted rows. Uses the primary key of topic_subscriber.
DELETE FROM topic_subscriber
WHERE topic_id = %(topic)s AND recipient_id <= (
    SELECT max(f.recipient_id) FROM (
        SELECT s.recipient_id FROM topic_subscriber s WHERE s.topic_id = %(topic)s ORDER BY s.recipient_id LIMIT %(limit)s
    ) f
)
