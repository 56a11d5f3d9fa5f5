-- Where claimed deliveries go, and what the person allows now. Served by primary keys.
SELECT c.id, c.kind, c.address, c.invalidated_at, r.locale, p.channels_off, p.categories_off,
       coalesce(nullif(r.timezone, ''), r.phone_timezone) AS timezone, p.quiet_hours::text, p.do_not_disturb_until,
       nullif(p.caps, '{}')::text AS caps
FROM notifications_contact c
JOIN notifications_recipient r ON r.id = c.recipient_id
LEFT JOIN notifications_preference p ON p.recipient_id = r.id
WHERE c.id = ANY(%(ids)s)
