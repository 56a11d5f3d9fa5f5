-- Take a day for `lease`, unless another process has the day. Locks the day's row. Uses the primary key.
INSERT INTO archive_day AS d (day, state, lease_token, leased_until, started_at, problem)
VALUES (%(day)s, 'exporting', %(token)s, now() + %(lease)s, now(), '')
ON CONFLICT (day) DO UPDATE SET lease_token = excluded.lease_token, leased_until = excluded.leased_until
    WHERE d.leased_until IS NULL OR d.leased_until < now()
RETURNING d.day
