-- Return the inboxes of recipients in the columns of contacts.sql: the id is the negative recipient id, the address is
-- the user id. An inbox cannot be invalid or suppressed. Locks nothing. Uses primary keys.
SELECT p.channels_off, p.categories_off, nullif(p.caps, '{}')::text, nullif(p.topics_off, '{}')::text, NULL, -r.id, %(kind)s, r.user_id,
       true, false, r.locale, coalesce(nullif(r.timezone, ''), r.phone_timezone), coalesce(p.quiet_hours::text, '[]'), p.do_not_disturb_until,
       0, NULL::timestamptz, NULL::timestamptz, false, false
FROM notifications_recipient r
LEFT JOIN notifications_preference p ON p.recipient_id = r.id
WHERE r.id = ANY(%(recipients)s::bigint[])
