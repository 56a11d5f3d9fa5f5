-- Take the time slot of a sweep; the first process of the slot gets the number of failed rows of the run before.
-- `every` is the length of a slot. A started_at in the future comes from a clock that was corrected since, and does not block the slot. Locks one row.
-- Uses the primary key.
INSERT INTO notifications_sweeprun AS r (name, started_at, running_since, moved, failed)
VALUES (%(name)s, now(), now(), 0, 0)
ON CONFLICT (name) DO UPDATE SET started_at = now(), running_since = coalesce(r.running_since, now())
WHERE r.started_at <= now() - %(every)s::interval OR r.started_at > now()
RETURNING failed
