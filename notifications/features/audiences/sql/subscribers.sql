-- Return a page of a topic's subscribers by recipient id. Locks nothing. Uses the primary keys of topic_subscriber and
-- the recipient.
SELECT r.id, r.user_id
FROM (SELECT s.recipient_id FROM topic_subscriber s WHERE s.topic_id = %(topic)s AND s.recipient_id > %(after)s) s
JOIN notifications_recipient r ON r.id = s.recipient_id
ORDER BY s.recipient_id
LIMIT %(limit)s
