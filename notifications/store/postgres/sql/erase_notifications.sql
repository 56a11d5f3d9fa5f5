-- Remove notifications of a recipient, newest first, with their timelines and short links; returns their ids.
-- Locks the rows that it removes. Served by notification_by_recipient, then by primary keys and short_link_delivery.
WITH wanted AS (
    SELECT id FROM notification WHERE recipient_id = %(recipient)s::bigint ORDER BY id DESC LIMIT %(limit)s::bigint
), links AS (
    DELETE FROM short_link l USING wanted w WHERE l.delivery_id > w.id AND l.delivery_id <= last_delivery_of(w.id)
), told AS (
    DELETE FROM event e USING wanted w WHERE e.notification_id = w.id
)
DELETE FROM notification n USING wanted w WHERE n.id = w.id
RETURNING n.id
