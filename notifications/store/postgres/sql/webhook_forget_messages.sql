-- Delete up to `limit` messages from before the instant `before`, the oldest first. Skips locked rows. Uses
-- webhook_message_age.
DELETE FROM webhook_message WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM webhook_message WHERE created_at < %(before)s ORDER BY created_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
