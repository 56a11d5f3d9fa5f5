-- One winner a slot: whoever moves started_at first. A start in the future is a clock that was put right. Locks one row.
INSERT INTO notifications_sweeprun (name, started_at, moved, failed) VALUES (%(name)s, now(), 0, 0)
ON CONFLICT (name) DO UPDATE SET started_at = now()
WHERE notifications_sweeprun.started_at <= now() - %(every)s::interval OR notifications_sweeprun.started_at > now()
RETURNING name
