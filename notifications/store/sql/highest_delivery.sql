-- The last delivery of a notification, the notification locked so that one caller at a time adds to it. Served by the primary key.
WITH locked AS (SELECT id FROM notification WHERE id = %(id)s FOR UPDATE)
SELECT d.id FROM locked, delivery d
WHERE d.id > %(id)s AND d.id <= %(last)s
ORDER BY d.id DESC LIMIT 1
