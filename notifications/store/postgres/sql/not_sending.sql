-- Return those of these deliveries that have no provider call in flight. Locks them in the order of the ids, so that
-- no call begins meanwhile. Uses the primary key.
SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND (status <> %(sending)s OR call_started_at IS NULL) ORDER BY id FOR UPDATE
