-- Return the existing recipients of `ids`. Keeps them from being deleted until the end of the transaction; an erasure waits, or has
-- deleted them. Locks the rows in the order of the ids. Uses the primary key.
SELECT id FROM notifications_recipient WHERE id = ANY(%(ids)s) ORDER BY id FOR KEY SHARE
