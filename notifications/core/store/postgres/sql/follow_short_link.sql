-- Count a click on a short link and return the target and the delivery. Locks the row of the link. Uses the primary key.
UPDATE short_link
SET clicks = clicks + 1, first_clicked_at = coalesce(first_clicked_at, now())
WHERE token = %(token)s AND expires_at > now()
RETURNING target, delivery_id
