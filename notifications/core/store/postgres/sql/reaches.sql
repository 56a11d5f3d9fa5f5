-- Return recipients with their valid contacts that are not suppressed, the primary contact first. Recipients are
-- given by user id and mode (recipient_once_per_mode) or by id (primary key). Locks nothing. Uses
-- suppression_by_address, once for each contact.
SELECT r.id, r.user_id, coalesce(nullif(r.timezone, ''), r.phone_timezone) AS timezone, r.locale,
       p.channels_off, p.channel_order, p.categories_off, nullif(p.topics_off, '{}')::text,
       c.channels AS contact_channels, c.ids AS contact_ids, c.suppressed AS channels_suppressed, c.number
FROM notifications_recipient r
LEFT JOIN notifications_preference p ON p.recipient_id = r.id
LEFT JOIN LATERAL (
    SELECT array_agg(v.channel ORDER BY v.is_primary DESC, v.id) FILTER (WHERE NOT v.suppressed) AS channels,
           array_agg(v.id ORDER BY v.is_primary DESC, v.id) FILTER (WHERE NOT v.suppressed) AS ids,
           array_agg(v.channel) FILTER (WHERE v.suppressed) AS suppressed,
           (array_agg(v.address ORDER BY v.is_primary DESC, v.id)
               FILTER (WHERE v.channel = %(sms)s AND NOT v.suppressed))[1] AS number
    FROM (
        SELECT k.id, k.channel, k.is_primary, k.address,
               r.mode = %(live)s AND EXISTS (
                   SELECT FROM notifications_suppression s
                   WHERE s.channel = k.channel AND s.address = suppressible(k.channel, k.address)
                     AND s.undone_at IS NULL
               ) AS suppressed
        FROM notifications_contact k
        WHERE k.recipient_id = r.id AND k.invalidated_at IS NULL
        OFFSET 0 -- prevents one probe of the suppression list for each of the three aggregates
    ) v
) c ON true
WHERE (r.mode = %(mode)s AND r.user_id = ANY(%(user_ids)s)) OR r.id = ANY(%(ids)s)
