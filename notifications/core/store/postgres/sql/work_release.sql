-- True if a resumed switch holds rows, or a hold check is due; `work_due_rows` tells due deliveries. Uses switch_to_release
-- and hold_check_due.
EXISTS (SELECT FROM notifications_switch WHERE resumed_at IS NOT NULL AND released_at IS NULL)
OR EXISTS (SELECT FROM hold_check WHERE due_at <= now())
