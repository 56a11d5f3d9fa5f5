-- Return the existing files of `ids`. Keeps the files from being deleted until the end of the transaction. Locks the rows in the order
-- of the ids. Uses the primary key.
SELECT id FROM attachment WHERE id = ANY(%(ids)s) ORDER BY id FOR KEY SHARE
