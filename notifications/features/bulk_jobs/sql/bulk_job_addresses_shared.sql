-- Return some recipients with an id below a limit at the address of a contact, in any spelling. Locks nothing.
-- Uses the primary keys of contacts and recipients, and contact_by_key.
SELECT DISTINCT r.id, r.user_id
FROM (
    SELECT DISTINCT c.channel, suppressible(c.channel, c.address) AS key
    FROM notifications_contact c WHERE c.id = ANY (%(contacts)s::bigint[])
) w
CROSS JOIN LATERAL (
    SELECT o.recipient_id FROM notifications_contact o
    WHERE suppressible(o.channel, o.address) = w.key AND o.channel = w.channel
      AND o.recipient_id < %(before)s::bigint AND o.invalidated_at IS NULL
    LIMIT %(each)s::bigint
) o
JOIN notifications_recipient r ON r.id = o.recipient_id
ORDER BY r.id
