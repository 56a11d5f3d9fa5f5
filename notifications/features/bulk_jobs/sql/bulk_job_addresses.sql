-- Return contacts with the channel and the address as the suppression list compares it. Locks nothing. Uses the primary
-- key of contacts.
SELECT c.id, c.channel, suppressible(c.channel, c.address) AS address
FROM notifications_contact c WHERE c.id = ANY (%(contacts)s::bigint[])
