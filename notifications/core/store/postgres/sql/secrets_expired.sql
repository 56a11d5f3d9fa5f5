-- Return up to `limit` notifications that store sensitive variables after the end of their time to live. Locks
-- nothing. Uses notification_with_secrets, once for each partition.
SELECT id FROM notification
WHERE secrets IS NOT NULL AND expires_at <= now()
ORDER BY expires_at LIMIT %(limit)s
