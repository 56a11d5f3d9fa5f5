-- Take up to `limit` due rows for a question: the due time moves by `again_in`. Skips locked rows. Uses receipt_lookup_due.
WITH due AS MATERIALIZED (
    SELECT id FROM receipt_lookup
    WHERE due_at <= %(now)s::timestamptz
    ORDER BY due_at
    LIMIT %(limit)s::bigint
    FOR UPDATE SKIP LOCKED
)
UPDATE receipt_lookup SET due_at = %(now)s::timestamptz + %(again_in)s::interval
WHERE id = ANY (ARRAY(SELECT id FROM due))
RETURNING id, delivery_id, provider, message_id, sent_at
