-- Return up to `limit` due prices of receipts, the longest due first. Locks the rows and skips rows of another sweep.
-- Uses receipt_price_due.
SELECT delivery_id, provider, message_id, segments, micros, created_at < now() - %(unnamed_after)s::interval AS is_old
FROM receipt_price
WHERE due_at <= now()
ORDER BY due_at
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
