-- Delete an erased recipient from topics and recipient lists; return the number of rows. Looks into each topic and list by
-- the primary key.
WITH topics AS (
    DELETE FROM topic_subscriber s USING topic t
    WHERE s.topic_id = t.id AND s.recipient_id = %(recipient)s
    RETURNING 1
), lists AS (
    DELETE FROM recipient_list_member m USING recipient_list l
    WHERE m.list_id = l.id AND m.recipient_id = %(recipient)s
    RETURNING 1
)
SELECT (SELECT count(*) FROM topics) + (SELECT count(*) FROM lists) AS removed
