-- Delete the messages of status webhooks about contacts, with their calls. Locks the messages in the order of the ids.
-- Uses webhook_message_of_contact, webhook_attempt_of_message and the primary key.
WITH messages AS MATERIALIZED (
    SELECT id FROM webhook_message WHERE contact_id = ANY (%(contacts)s::bigint[])
    ORDER BY id
    FOR UPDATE
), calls AS (
    DELETE FROM webhook_attempt WHERE message_id = ANY (ARRAY(SELECT id FROM messages))
)
DELETE FROM webhook_message WHERE id = ANY (ARRAY(SELECT id FROM messages))
