-- Add a category to the categories that a recipient switched off, marked as the choice of the recipient. Returns no
-- row when the category is switched off already, or after the erasure of the recipient. Locks the preference row.
-- Uses the primary key.
INSERT INTO notifications_preference
    (recipient_id, channels_off, channel_order, categories_off, categories_left, quiet_hours, caps, updated_at)
SELECT r.id, '{}', '{}', ARRAY[%(category)s::varchar], ARRAY[%(category)s::varchar], '[]', '{}', now()
FROM notifications_recipient r
WHERE r.id = %(recipient)s
ON CONFLICT (recipient_id) DO UPDATE
SET categories_off = array_append(
        array_remove(notifications_preference.categories_off, %(category)s::varchar), %(category)s::varchar),
    categories_left = array_append(
        array_remove(notifications_preference.categories_left, %(category)s::varchar), %(category)s::varchar),
    updated_at = now()
WHERE NOT (notifications_preference.categories_off @> ARRAY[%(category)s::varchar]
    AND notifications_preference.categories_left @> ARRAY[%(category)s::varchar])
RETURNING recipient_id
