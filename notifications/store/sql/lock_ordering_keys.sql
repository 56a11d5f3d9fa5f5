-- One transaction at a time joins a line, so that places rise in the order of the commits. Locks in key order; served by the primary key.
SELECT id FROM ordering_key WHERE id = ANY(%(ids)s) ORDER BY producer_id, mode, key FOR UPDATE
