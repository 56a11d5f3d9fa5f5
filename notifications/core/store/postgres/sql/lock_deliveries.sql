-- Lock those of these deliveries that no other transaction has locked, in the order of the ids, and return their
-- ids. Uses the primary key.
SELECT id FROM delivery
WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
ORDER BY id FOR UPDATE SKIP LOCKED
