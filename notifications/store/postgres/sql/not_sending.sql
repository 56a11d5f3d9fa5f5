-- Return those of these deliveries that a late acceptance may change: no provider call is in flight, and no receipt has
-- reported the failure of the call. Locks them in the order of the ids, so that no call begins meanwhile. Uses the
-- primary key.
SELECT id FROM delivery
WHERE id = ANY(%(ids)s) AND (status <> %(sending)s OR call_started_at IS NULL)
  AND (status <> %(failed)s OR reason <> %(by_receipt)s)
ORDER BY id
FOR UPDATE
