-- Return and lock the running enrolments of versions with the events. Parameters: arrays of equal length, one row
-- for each event. Waits for locked rows in the order of their ids: the transaction with the lock of a row started before the
-- event. The events of a version never change, so a step that ends during the wait cannot hide a row. Uses the index
-- on recipient_id.
SELECT e.id
FROM series_enrolment e
WHERE e.due_at IS NOT NULL
  AND e.recipient_id = ANY(%(recipients)s::bigint[])
  AND EXISTS (
      SELECT FROM unnest(%(recipients)s::bigint[], %(producers)s::bigint[], %(names)s::text[])
          AS q(recipient, producer, name)
      JOIN series_version v ON v.id = e.version_id AND q.name = ANY(v.listens)
      JOIN series s ON s.id = e.series_id AND s.producer_id = q.producer
      WHERE q.recipient = e.recipient_id
  )
ORDER BY e.id
FOR NO KEY UPDATE OF e
