-- Where scheduled deliveries go, known now that they are released. Under the lock of lock_scheduled.
UPDATE delivery d SET contact_id = w.contact_id
FROM unnest(%(ids)s::uuid[], %(contacts)s::bigint[]) AS w(id, contact_id)
WHERE d.id = w.id AND d.contact_id IS NULL AND d.id = ANY(%(ids)s)
