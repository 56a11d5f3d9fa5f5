-- One winner a slot: whoever moves started_at first. A start in the future is a clock that was put right. Locks one row.
INSERT INTO notifications_sweeprun AS r (name, started_at, running_since, moved, failed)
VALUES (%(name)s, now(), now(), 0, 0)
ON CONFLICT (name) DO UPDATE SET started_at = now(), running_since = coalesce(r.running_since, now())
WHERE r.started_at <= now() - %(every)s::interval OR r.started_at > now()
RETURNING name
