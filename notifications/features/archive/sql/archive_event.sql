-- Return the events of a partition for the archive, in the order of the ids. Details are in the personal values of the
-- notification. Locks nothing. Sorts the events.
SELECT notification_id, seq, delivery_id, status, reason, at, occurred_at, claimed_at
FROM {event}
ORDER BY notification_id, seq
