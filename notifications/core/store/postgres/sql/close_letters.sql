-- Close the open dead letters of deliveries with a sent or delivered message. Locks the letters in id order and
-- skips locked letters: the replay or operator with the lock closes the letter. Uses one_open_dead_letter_per_delivery.
UPDATE notifications_deadletter
SET resolved_at = now(), resolution = %(resolution)s
WHERE id IN (
    SELECT id FROM notifications_deadletter
    WHERE delivery_id = ANY(%(ids)s) AND resolved_at IS NULL
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
)
