-- Store the new addresses of contacts that a provider accepted messages at, in place of the old addresses. Leaves out a
-- contact whose address has changed since the call, and a contact of a recipient with a contact at the new address.
-- Locks contacts in the order of the ids by the primary key; contact_once_per_recipient serves the second look-up.
WITH told AS (
    SELECT c.id, w.new
    FROM unnest(%(ids)s::bigint[], %(old)s::text[], %(new)s::text[]) AS w(id, old, new)
    JOIN notifications_contact c USING (id)
    WHERE c.address = w.old
    ORDER BY c.id
    FOR UPDATE OF c
)
UPDATE notifications_contact c
SET address = told.new, changed_at = now(), changed_by = %(provider)s
FROM told
WHERE c.id = told.id AND NOT EXISTS (
    SELECT FROM notifications_contact other
    WHERE other.recipient_id = c.recipient_id AND other.channel = c.channel AND other.address = told.new)
RETURNING c.id
