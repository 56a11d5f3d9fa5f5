-- Return some recipients with an id below a limit who share an address with a contact, in the spelling of the contact or
-- of the suppression list. Locks nothing. Uses the primary keys of contacts and recipients, and contact_by_address.
SELECT DISTINCT r.id, r.user_id
FROM (
    SELECT DISTINCT c.channel, spelled.address
    FROM notifications_contact c
    CROSS JOIN LATERAL unnest(ARRAY[c.address, suppressible(c.channel, c.address)]) AS spelled(address)
    WHERE c.id = ANY (%(contacts)s::bigint[])
) w
CROSS JOIN LATERAL (
    SELECT o.recipient_id FROM notifications_contact o
    WHERE o.address = w.address AND o.channel = w.channel AND o.recipient_id < %(before)s::bigint
      AND o.invalidated_at IS NULL
    LIMIT %(each)s::bigint
) o
JOIN notifications_recipient r ON r.id = o.recipient_id
ORDER BY r.id
