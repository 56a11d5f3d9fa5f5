-- Delete up to `limit` files past `now`, the oldest first, until they have `most_bytes` together; the last file may exceed them. Skips
-- locked rows. Uses attachment_expiry and the primary key.
WITH expired AS MATERIALIZED (
    SELECT id, size, kept_until FROM attachment
    WHERE kept_until < %(now)s
    ORDER BY kept_until
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), summed AS (
    SELECT id, sum(size) OVER (ORDER BY kept_until, id) - size AS before FROM expired
)
DELETE FROM attachment WHERE id = ANY(ARRAY(SELECT id FROM summed WHERE before < %(most_bytes)s))
