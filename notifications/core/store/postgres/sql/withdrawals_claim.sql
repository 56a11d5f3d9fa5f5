-- Take up to `limit` due withdrawals for a try: the due time moves by the lease. Skips locked rows. Uses withdrawal_due.
WITH due AS MATERIALIZED (
    SELECT delivery_id FROM withdrawal
    WHERE due_at <= %(now)s::timestamptz
    ORDER BY due_at
    LIMIT %(limit)s::bigint
    FOR UPDATE SKIP LOCKED
)
UPDATE withdrawal SET due_at = %(now)s::timestamptz + %(lease)s::interval
WHERE delivery_id = ANY (ARRAY(SELECT delivery_id FROM due))
RETURNING delivery_id
