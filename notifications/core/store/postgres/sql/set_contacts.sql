-- Store the contacts of scheduled deliveries that are released now. The caller has locked the notifications. Locks
-- the deliveries. Uses the primary key.
UPDATE delivery d SET contact_id = w.contact_id
FROM unnest(%(ids)s::uuid[], %(contacts)s::bigint[]) AS w(id, contact_id)
WHERE d.id = w.id AND d.contact_id IS NULL AND d.id = ANY(%(ids)s)
