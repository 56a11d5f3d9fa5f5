-- The variables of these notifications, locked in the order of ids until the transaction ends. Served by the primary key.
SELECT id, variables, secrets FROM notification WHERE id = ANY(%(ids)s) AND variables ?| %(names)s::text[] ORDER BY id FOR UPDATE
