-- Move the topics and recipient lists of a merged recipient to the recipient that stays. Locks the moved rows. Looks into
-- each topic and list by the primary key. Returns the number of rows.
WITH topics AS (
    DELETE FROM topic_subscriber s USING topic t
    WHERE s.topic_id = t.id AND s.recipient_id = %(merged)s
    RETURNING s.topic_id
), subscribed AS (
    INSERT INTO topic_subscriber (topic_id, recipient_id) SELECT topic_id, %(stays)s FROM topics ORDER BY topic_id
    ON CONFLICT DO NOTHING
), lists AS (
    DELETE FROM recipient_list_member m USING recipient_list l
    WHERE m.list_id = l.id AND m.recipient_id = %(merged)s
    RETURNING m.list_id, m.variables
), listed AS (
    INSERT INTO recipient_list_member (list_id, recipient_id, variables)
    SELECT list_id, %(stays)s, variables FROM lists ORDER BY list_id
    ON CONFLICT DO NOTHING
)
SELECT (SELECT count(*) FROM topics) + (SELECT count(*) FROM lists) AS moved
