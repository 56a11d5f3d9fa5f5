-- Delete up to `limit` logged calls from before the instant `before`, the oldest first. Skips locked rows. Uses
-- webhook_attempt_age.
DELETE FROM webhook_attempt WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM webhook_attempt WHERE started_at < %(before)s ORDER BY started_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
