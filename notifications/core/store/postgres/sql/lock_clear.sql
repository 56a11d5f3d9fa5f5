-- Return the variables of those notifications that store one of the variables in `names` unencrypted. Locks the
-- notifications in the order of the ids. Uses the primary key.
SELECT id, variables, secrets FROM notification WHERE id = ANY(%(ids)s) AND variables ?| %(names)s::text[] ORDER BY id FOR UPDATE
