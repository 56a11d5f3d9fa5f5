-- Close the open dead letters of deliveries whose message left or arrived after all. Locks the letters in id order and
-- skips locked ones: a replay or an operator holds them and closes them. Uses one_open_dead_letter_per_delivery.
UPDATE notifications_deadletter
SET resolved_at = now(), resolution = %(resolution)s
WHERE id IN (
    SELECT id FROM notifications_deadletter
    WHERE delivery_id = ANY(%(ids)s) AND resolved_at IS NULL
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
)
