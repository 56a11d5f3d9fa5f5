-- Delete rows with a receipt, or without hope of one. Locks the rows in the order of the ids. Uses the primary key.
DELETE FROM receipt_lookup
WHERE id = ANY (ARRAY(SELECT id FROM receipt_lookup WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE))
