-- A run came to its end. Returns how many rows had failed in the run before. Locks one row.
UPDATE notifications_sweeprun r SET finished_at = now(), moved = %(moved)s, failed = %(failed)s
FROM (SELECT name, failed FROM notifications_sweeprun WHERE name = %(name)s FOR UPDATE) before
WHERE r.name = before.name
RETURNING before.failed
