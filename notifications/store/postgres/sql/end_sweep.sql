-- A run came to its end. Returns what stood there before: rows that failed in the last run, and how long runs had not ended.
-- Locks one row.
UPDATE notifications_sweeprun r
SET finished_at = now(), running_since = NULL, moved = %(moved)s, failed = %(failed)s
FROM (SELECT name, failed, running_since FROM notifications_sweeprun WHERE name = %(name)s FOR UPDATE) before
WHERE r.name = before.name
RETURNING before.failed, now() - coalesce(before.running_since, now()) AS took
