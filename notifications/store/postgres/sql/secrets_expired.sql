-- Notifications whose time to live has passed and whose sensitive variables are still there. Locks nothing. Served by
-- notification_with_secrets: one probe for each partition.
SELECT id FROM notification
WHERE secrets IS NOT NULL AND expires_at <= now()
ORDER BY expires_at LIMIT %(limit)s
