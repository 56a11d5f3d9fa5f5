-- Store the results of hold checks: delete the check (`next_at` is null), or store the time and the place of the next
-- check. After a change of settings in the meantime a recipient is checked anew. Locks in the order of the ids and skips
-- locked rows, which are such recipients. Uses the primary key.
WITH told AS (
    SELECT * FROM unnest(%(recipients)s::bigint[], %(changed_at)s::timestamptz[], %(next_at)s::timestamptz[],
                         %(checked_to)s::uuid[]) AS t(recipient_id, changed_at, next_at, checked_to)
), picked AS (
    SELECT c.recipient_id, told.next_at, told.checked_to
    FROM hold_check c JOIN told USING (recipient_id, changed_at)
    ORDER BY c.recipient_id
    FOR UPDATE OF c SKIP LOCKED
), ended AS (
    DELETE FROM hold_check c USING picked p WHERE c.recipient_id = p.recipient_id AND p.next_at IS NULL
)
UPDATE hold_check c SET due_at = p.next_at, checked_to = p.checked_to
FROM picked p
WHERE c.recipient_id = p.recipient_id AND p.next_at IS NOT NULL
