-- Delete those of the locked `files` of which no recipient is left without the erased `recipients`. A file that the producer has uploaded
-- again since the last use stays for the promised time, for nobody yet. A file that so many recipients have got meanwhile that the
-- recipients are not stored stays. No other recipient is locked.
WITH theirs AS MATERIALIZED (
    SELECT id FROM attachment WHERE id = ANY(%(files)s) AND recipient_id = ANY(%(recipients)s)
    UNION SELECT attachment_id FROM attachment_recipient
    WHERE attachment_id = ANY(%(files)s) AND recipient_id = ANY(%(recipients)s)
), alone AS MATERIALIZED (
    SELECT id FROM theirs t
    WHERE NOT EXISTS (
        SELECT 1 FROM attachment_recipient r WHERE r.attachment_id = t.id AND r.recipient_id <> ALL(%(recipients)s)
    )
), forgotten AS (
    DELETE FROM attachment_recipient r
    WHERE r.attachment_id IN (SELECT id FROM theirs) AND r.recipient_id = ANY(%(recipients)s)
), promised AS (
    UPDATE attachment a SET recipient_id = NULL, kept_until = a.promised_until
    WHERE a.id IN (SELECT id FROM alone) AND a.promised_until > %(now)s
)
DELETE FROM attachment a
WHERE a.id IN (SELECT id FROM alone) AND (a.promised_until > %(now)s) IS NOT TRUE
