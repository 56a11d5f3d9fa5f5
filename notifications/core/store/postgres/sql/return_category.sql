-- Remove a category from the categories that a recipient switched off. Locks the preference row. Uses the primary
-- key.
UPDATE notifications_preference
SET categories_off = array_remove(categories_off, %(category)s::varchar),
    categories_left = array_remove(categories_left, %(category)s::varchar),
    updated_at = now()
WHERE recipient_id = %(recipient)s AND categories_off @> ARRAY[%(category)s::varchar]
RETURNING recipient_id
