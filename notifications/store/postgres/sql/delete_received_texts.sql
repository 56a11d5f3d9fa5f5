-- Delete up to `limit` ids of inbound messages that arrived before the instant `before`. Skips locked rows. Uses
-- received_text_age.
DELETE FROM received_text WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM received_text WHERE received_at < %(before)s ORDER BY received_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
