-- Take the time slot of a sweep; the first process of the slot gets the number of failed rows of the run before.
-- A slot is `early` times the interval: `every`, else the shortest interval of the enabled periodic tasks of `task`, else `usual`, which is also the
-- interval of a task with a crontab. A started_at in the future comes from a clock that was corrected since, and does not block the slot.
-- Locks one row. Uses the primary key and reads the about forty rows of beat.
INSERT INTO notifications_sweeprun AS r (name, started_at, running_since, moved, failed)
VALUES (%(name)s, now(), now(), 0, 0)
ON CONFLICT (name) DO UPDATE SET started_at = now(), running_since = coalesce(r.running_since, now())
WHERE r.started_at > now() OR r.started_at <= now() - %(early)s * coalesce(
    %(every)s::interval,
    (
        SELECT min(coalesce((i.every || ' ' || i.period)::interval, %(usual)s::interval))
        FROM django_celery_beat_periodictask p
        LEFT JOIN django_celery_beat_intervalschedule i ON i.id = p.interval_id
        WHERE p.task = %(task)s AND p.enabled
    ),
    %(usual)s::interval
)
RETURNING failed
