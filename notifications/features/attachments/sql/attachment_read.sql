-- Return the contents of files. Locks nothing. Uses the primary key.
SELECT id, content FROM attachment WHERE id = ANY(%(ids)s)
