-- Store the budgets that hold rows of a claim. Locks in the order of the ids. Uses the primary key.
WITH ours AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(ids)s) AND claim_token = %(token)s
    ORDER BY id
    FOR UPDATE
)
UPDATE delivery d SET budget_id = w.budget
FROM unnest(%(ids)s::uuid[], %(budgets)s::bigint[]) AS w(id, budget)
WHERE d.id = w.id AND d.id IN (SELECT id FROM ours)
RETURNING d.id
