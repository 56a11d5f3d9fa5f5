-- Return the recipients of a partition without an archive key. Erased recipients are left out, and never get a key. Locks
-- nothing. Reads the partition once, then archive_key by its primary key and erasure_job_by_recipient.
SELECT DISTINCT n.recipient_id
FROM {notification} n
WHERE NOT EXISTS (SELECT FROM archive_key k WHERE k.recipient_id = n.recipient_id)
  AND NOT EXISTS (SELECT FROM notifications_erasurejob j WHERE j.recipient_id = n.recipient_id)
