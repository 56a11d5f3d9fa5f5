-- Store the send slots that were reserved for waiting deliveries, if this token still has the claim. Locks in the
-- order of the ids. Uses the primary key. No index has the columns.
WITH reserved AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(waits)s::interval[]) AS r(id, wait)
), ours AS (
    SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND claim_token = %(token)s ORDER BY id FOR UPDATE
)
UPDATE delivery d SET slot_provider = %(provider)s, slot_at = now() + r.wait
FROM ours JOIN reserved r USING (id)
WHERE d.id = ours.id AND d.id = ANY(%(ids)s)
