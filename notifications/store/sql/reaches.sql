-- How recipients can be reached now: valid contacts, the primary one first. By user id within a mode (recipient_once_per_mode) or by
-- recipient id.
SELECT r.id, r.user_id, p.channels_off, p.channel_order, p.categories_off,
       c.channels AS contact_channels, c.ids AS contact_ids
FROM notifications_recipient r
LEFT JOIN notifications_preference p ON p.recipient_id = r.id
LEFT JOIN LATERAL (
    SELECT array_agg(c.channel ORDER BY c.is_primary DESC, c.id) AS channels,
           array_agg(c.id ORDER BY c.is_primary DESC, c.id) AS ids
    FROM notifications_contact c
    WHERE c.recipient_id = r.id AND c.invalidated_at IS NULL
) c ON true
WHERE (r.mode = %(mode)s AND r.user_id = ANY(%(user_ids)s)) OR r.id = ANY(%(ids)s)
