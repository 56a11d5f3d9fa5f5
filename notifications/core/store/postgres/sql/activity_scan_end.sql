-- Return the last row of the inner scan of activity if the scan stopped after `scanned` rows, else no row. Same index and
-- bounds as activity. Locks nothing.
SELECT id FROM delivery
WHERE id < %(below)s::uuid AND id >= %(floor)s::uuid
ORDER BY id DESC
OFFSET %(scanned)s::bigint - 1
LIMIT 1
