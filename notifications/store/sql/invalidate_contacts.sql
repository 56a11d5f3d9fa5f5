-- Contacts that a provider called dead. One that is invalid already keeps what it says. Locks in id order; served by the primary key.
WITH dead AS (
    SELECT c.id, w.reason
    FROM unnest(%(ids)s::bigint[], %(reasons)s::text[]) AS w(id, reason)
    JOIN notifications_contact c USING (id)
    WHERE c.invalidated_at IS NULL
    ORDER BY c.id
    FOR UPDATE OF c
)
UPDATE notifications_contact c
SET invalidated_at = now(), invalid_reason = dead.reason, is_primary = false
FROM dead
WHERE c.id = dead.id
