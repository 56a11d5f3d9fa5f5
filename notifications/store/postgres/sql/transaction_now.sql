-- The instant that now() gives in the transaction that is open: what an interval is added to when a row's due_at is written.
SELECT now() AS now
