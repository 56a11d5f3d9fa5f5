-- Insert the missing heads of recipients, in the order of recipients, except for erased recipients: an item that a worker adds after the
-- end of the erasure has no head and is not stored. A concurrent insert of the same head waits. Uses the primary key and
-- erasure_job_by_recipient.
INSERT INTO inbox (recipient_id)
SELECT r.recipient_id
FROM unnest(%(recipients)s::bigint[]) WITH ORDINALITY AS r(recipient_id, place)
WHERE NOT EXISTS (SELECT FROM notifications_erasurejob j WHERE j.recipient_id = r.recipient_id)
ORDER BY r.place
ON CONFLICT DO NOTHING
