-- Return the last row of the inner scan of timeline_listing if the scan stopped after `scanned` rows, else no row.
-- Same index and bounds as timeline_listing. Locks nothing.
SELECT id FROM notification
WHERE id < %(below)s::uuid AND id >= %(floor)s::uuid
  AND (%(recipient)s::bigint IS NULL OR recipient_id = %(recipient)s::bigint)
ORDER BY id DESC
OFFSET %(scanned)s::bigint - 1
LIMIT 1
