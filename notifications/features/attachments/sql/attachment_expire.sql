-- Delete up to `limit` files past `now`, the oldest first, until they have `most_bytes` together; the last file may exceed them. A file of
-- templates that a version names stays until `until`, and is looked at again then; such files count as no deletion. Skips locked rows. Uses attachment_expiry, template_attachments and the primary key.
WITH expired AS MATERIALIZED (
    SELECT id, size, kept_until, producer_id, digest, type FROM attachment
    WHERE kept_until < %(now)s
    ORDER BY kept_until
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), named AS MATERIALIZED (
    SELECT id FROM expired e
    WHERE producer_id IS NULL AND EXISTS (
        SELECT FROM notifications_template t
        WHERE t.attachments <> '[]'
          AND t.attachments @> jsonb_build_array(jsonb_build_object('digest', encode(e.digest, 'hex'), 'type', e.type))
    )
), kept AS (
    UPDATE attachment SET kept_until = %(until)s WHERE id IN (SELECT id FROM named)
), summed AS (
    SELECT id, sum(size) OVER (ORDER BY kept_until, id) - size AS before FROM expired
    WHERE id NOT IN (SELECT id FROM named)
)
DELETE FROM attachment WHERE id = ANY(ARRAY(SELECT id FROM summed WHERE before < %(most_bytes)s))
