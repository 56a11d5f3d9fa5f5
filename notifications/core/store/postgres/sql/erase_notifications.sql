-- Delete up to `limit` notifications of a recipient, the newest first, with their timelines, short links, and messages of
-- status webhooks with their calls. Returns the ids of the notifications. Locks the deleted rows, those of messages in
-- the order of the ids. Uses notification_by_recipient, then primary keys, short_link_delivery and
-- webhook_attempt_of_message: the id of a message is computed from the endpoint and the event, as in webhook_fan_out.
WITH wanted AS (
    SELECT id, producer_id, mode FROM notification WHERE recipient_id = %(recipient)s::bigint
    ORDER BY id DESC LIMIT %(limit)s::bigint
), links AS (
    DELETE FROM short_link l USING wanted w WHERE l.delivery_id > w.id AND l.delivery_id <= last_delivery_of(w.id)
), told AS (
    DELETE FROM event e USING wanted w WHERE e.notification_id = w.id
    RETURNING e.seq, w.producer_id, w.mode
), messages AS MATERIALIZED (
    SELECT id FROM webhook_message WHERE id = ANY (ARRAY(
        SELECT md5(p.id || '/' || t.seq)::uuid
        FROM told t JOIN webhook_endpoint p ON p.producer_id = t.producer_id AND p.mode = t.mode))
    ORDER BY id
    FOR UPDATE
), calls AS (
    DELETE FROM webhook_attempt WHERE message_id = ANY (ARRAY(SELECT id FROM messages))
), unsent AS (
    DELETE FROM webhook_message WHERE id = ANY (ARRAY(SELECT id FROM messages))
)
DELETE FROM notification n USING wanted w WHERE n.id = w.id
RETURNING n.id
