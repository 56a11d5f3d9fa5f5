-- True if an erasure has no receipt. Uses erasure_job_without_receipt.
EXISTS (SELECT FROM notifications_erasurejob WHERE receipt IS NULL)
