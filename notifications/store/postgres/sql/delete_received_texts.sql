-- Ids of texts that nobody repeats any more. Served by received_text_age.
DELETE FROM received_text WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM received_text WHERE received_at < %(before)s ORDER BY received_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
