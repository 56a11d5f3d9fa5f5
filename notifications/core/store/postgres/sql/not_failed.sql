-- Return those of these deliveries that a late acceptance may change: no receipt has reported the failure of the call
-- since its claim. Such a receipt has changed the status, or has left the event "call <number> of ..." without a status
-- (`note_failed_calls`). Parameters: arrays of equal length; `since` is the time of the claim. Locks in the order of the
-- ids. Uses the primary keys.
SELECT d.id FROM delivery d
JOIN unnest(%(ids)s::uuid[], %(calls)s::smallint[]) AS w(id, call) ON w.id = d.id
WHERE d.id = ANY(%(ids)s) AND (d.status <> %(failed)s OR d.reason <> %(by_receipt)s)
  AND NOT EXISTS (
      SELECT FROM event e
      WHERE e.notification_id = notification_of(d.id) AND e.delivery_id = d.id AND e.at >= %(since)s::timestamptz
        AND e.reason = ANY(%(failures)s::text[])
        AND (e.status IS NOT NULL OR starts_with(e.detail, 'call ' || w.call || ' of ')))
ORDER BY d.id
FOR UPDATE OF d
