-- True if an item expires or a snooze ends, or an entry of the cache was not cleared. Uses inbox_next_change and the
-- primary key of inbox_uncleared.
EXISTS (SELECT FROM inbox WHERE next_change_at <= %(now)s::timestamptz)
OR EXISTS (SELECT FROM inbox_uncleared)
