-- Record the end of a run. Returns the time since the first run that has not ended. Locks one row. Uses the primary key.
UPDATE notifications_sweeprun r
SET finished_at = now(), running_since = NULL, moved = %(moved)s, failed = %(failed)s
FROM (SELECT name, running_since FROM notifications_sweeprun WHERE name = %(name)s FOR UPDATE) before
WHERE r.name = before.name
RETURNING now() - coalesce(before.running_since, now()) AS took
