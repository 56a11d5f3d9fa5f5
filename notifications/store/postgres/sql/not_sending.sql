-- Which of these nobody is calling a provider for right now. Locks them in id order, so that nobody begins meanwhile.
SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND (status <> %(sending)s OR call_started_at IS NULL) ORDER BY id FOR UPDATE
