-- Store the switches that hold these deliveries, if this token still has the claim. Locks in the order of the ids.
-- Uses the primary key. The index delivery_switched takes the row with the transition that follows.
WITH held AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(switches)s::bigint[]) AS h(id, switch_id)
), ours AS (
    SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND claim_token = %(token)s ORDER BY id FOR UPDATE
)
UPDATE delivery d SET switch_id = h.switch_id
FROM ours JOIN held h USING (id)
WHERE d.id = ours.id AND d.id = ANY(%(ids)s)
