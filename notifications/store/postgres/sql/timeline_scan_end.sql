-- Where the scan of timeline_listing ended, if it ended before the days did; no row when it saw everything.
-- The same index and bounds. Locks nothing.
SELECT id FROM notification
WHERE id < %(below)s::uuid AND id >= %(floor)s::uuid
  AND (%(recipient)s::bigint IS NULL OR recipient_id = %(recipient)s::bigint)
ORDER BY id DESC
OFFSET %(scanned)s::bigint - 1
LIMIT 1
