-- Delete custom events from before an instant among the `limit` oldest. Uses the primary key: ids and times have
-- nearly the same order.
DELETE FROM custom_event
WHERE id IN (SELECT id FROM custom_event ORDER BY id LIMIT %(limit)s) AND received_at < %(before)s AND handled
