-- Insert the recipients that have no row, and return the new rows. Locks in the order of the user ids, and waits
-- (lock_timeout) for a transaction that inserts the same recipient. Uses recipient_once_per_mode.
INSERT INTO notifications_recipient (mode, user_id, locale, timezone, phone_timezone, created_at, updated_at)
SELECT %(mode)s, w.user_id, w.locale, w.timezone, w.phone_timezone, %(now)s, %(now)s
FROM unnest(%(user_ids)s::text[], %(locales)s::text[], %(timezones)s::text[], %(phone_timezones)s::text[])
    AS w(user_id, locale, timezone, phone_timezone)
ON CONFLICT (mode, user_id) DO NOTHING
RETURNING id, user_id
