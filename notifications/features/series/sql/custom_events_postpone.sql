-- Let custom events wait after an exception. The caller holds the locks. Uses the primary key.
UPDATE custom_event SET due_at = now() + %(wait)s WHERE id = ANY(%(ids)s::bigint[])
