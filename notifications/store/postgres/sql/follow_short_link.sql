-- One click: where it leads. Locks the link's row for as long as that takes.
UPDATE short_link
SET clicks = clicks + 1, first_clicked_at = coalesce(first_clicked_at, now())
WHERE token = %(token)s AND expires_at > now()
RETURNING target
