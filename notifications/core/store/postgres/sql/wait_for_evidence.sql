-- Move the end of leases, so that the rescue looks at rows again later and at other rows meanwhile. Locks in the order
-- of the ids; the sweep holds the locks already. Uses the primary key.
WITH picked AS (
    SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND status = %(sending)s ORDER BY id FOR UPDATE
)
UPDATE delivery d SET due_at = now() + %(wait)s::interval
WHERE d.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = ANY(%(ids)s)
