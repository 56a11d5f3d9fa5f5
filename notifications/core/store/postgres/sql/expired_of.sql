-- Return the deliveries past the notification's time to live. Locks nothing. Uses the primary key of
-- the notifications; `floor` and `ceiling` prune partitions.
SELECT d.id
FROM unnest(%(ids)s::uuid[]) AS d(id)
JOIN notification n ON n.id = notification_of(d.id)
WHERE n.id >= %(floor)s::uuid AND n.id < %(ceiling)s::uuid AND n.expires_at <= now()
