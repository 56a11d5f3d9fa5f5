-- Insert the keys of recipients, except for erased recipients and for recipients that have a key. An erasure that begins
-- at the same time deletes the key at its end. Locks the new rows. Uses erasure_job_by_recipient.
INSERT INTO archive_key (recipient_id, sealed, created_at)
SELECT w.recipient_id, w.sealed, now()
FROM unnest(%(recipients)s::bigint[], %(sealed)s::bytea[]) AS w(recipient_id, sealed)
WHERE NOT EXISTS (SELECT FROM notifications_erasurejob j WHERE j.recipient_id = w.recipient_id)
ON CONFLICT DO NOTHING
