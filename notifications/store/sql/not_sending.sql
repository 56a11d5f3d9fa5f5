-- Which of these nobody is calling a provider for right now. Locks them in id order, so that nobody begins meanwhile.
SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND status <> %(sending)s ORDER BY id FOR UPDATE
