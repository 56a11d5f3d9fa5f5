-- Return the contacts of claimed deliveries with the preferences and timezone of the recipient, and whether the
-- address is on the suppression list. Locks nothing. Uses primary keys and suppression_by_address.
SELECT p.channels_off, p.categories_off, nullif(p.caps, '{}')::text,
       nullif(p.topics_off, '{}')::text, nullif(p.digests, '{}')::text, c.id, c.kind, c.address, c.invalidated_at IS NULL,
       r.mode = %(live)s AND EXISTS (
           SELECT FROM notifications_suppression s
           WHERE s.channel = c.channel AND s.address = suppressible(c.channel, c.address) AND s.undone_at IS NULL
       ),
       r.locale, coalesce(nullif(r.timezone, ''), r.phone_timezone), coalesce(p.quiet_hours::text, '[]'),
       p.do_not_disturb_until, c.secret_version, c.secret_changed_at, c.shared_secret_until,
       c.invalid_reason = %(taken_away)s,
       coalesce(c.client_receipt_at > now() - interval '30 days', false)
FROM notifications_contact c
JOIN notifications_recipient r ON r.id = c.recipient_id
LEFT JOIN notifications_preference p ON p.recipient_id = r.id
WHERE c.id = ANY(%(ids)s)
