-- Delete up to `limit` notifications of a recipient, the newest first, with their timelines and short links. Returns
-- the ids of the notifications. Locks the deleted rows. Uses notification_by_recipient, then primary keys and
-- short_link_delivery.
WITH wanted AS (
    SELECT id FROM notification WHERE recipient_id = %(recipient)s::bigint ORDER BY id DESC LIMIT %(limit)s::bigint
), links AS (
    DELETE FROM short_link l USING wanted w WHERE l.delivery_id > w.id AND l.delivery_id <= last_delivery_of(w.id)
), told AS (
    DELETE FROM event e USING wanted w WHERE e.notification_id = w.id
)
DELETE FROM notification n USING wanted w WHERE n.id = w.id
RETURNING n.id
