-- Slots that were reserved for rows which wait for them. Only rows still under our claim; locks in id order; served by the
-- primary key. No index knows the columns.
WITH reserved AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(waits)s::interval[]) AS r(id, wait)
), ours AS (
    SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND claim_token = %(token)s ORDER BY id FOR UPDATE
)
UPDATE delivery d SET slot_provider = %(provider)s, slot_at = now() + r.wait
FROM ours JOIN reserved r USING (id)
WHERE d.id = ours.id AND d.id = ANY(%(ids)s)
