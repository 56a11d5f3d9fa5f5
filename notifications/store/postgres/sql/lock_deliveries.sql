-- Those of these deliveries that nobody else has locked, locked in id order. Served by the primary key.
SELECT id FROM delivery
WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
ORDER BY id FOR UPDATE SKIP LOCKED
