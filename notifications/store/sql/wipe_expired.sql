-- Forget sensitive variables whose time to live has passed. Served by notification_with_secrets.
UPDATE notification SET secrets = NULL
WHERE id IN (
    SELECT id FROM notification
    WHERE secrets IS NOT NULL AND expires_at <= now()
    LIMIT %(limit)s)
  AND secrets IS NOT NULL
