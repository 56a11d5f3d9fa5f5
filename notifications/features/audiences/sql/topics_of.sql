-- Return the names of the topics of a recipient. Locks nothing. Looks into each topic of the mode by the primary key of
-- topic_subscriber, because an index by recipient would double the size of large topics.
SELECT t.name
FROM topic t
WHERE t.mode = %(mode)s AND t.deleted_at IS NULL
  AND EXISTS (SELECT FROM topic_subscriber s WHERE s.topic_id = t.id AND s.recipient_id = %(recipient)s)
ORDER BY t.name
