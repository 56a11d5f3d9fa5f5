-- One caller at a time adds deliveries to these. Locks in id order; served by the primary key.
SELECT id FROM notification WHERE id = ANY(%(ids)s) ORDER BY id FOR UPDATE
