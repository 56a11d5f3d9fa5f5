-- Insert an event without a status for each call that this transaction has recorded or answered late; the roll-ups count
-- the call with the event. A call that another transaction has recorded gets none. Parameters: arrays of equal length.
-- Locks the new rows. Uses the primary key of attempt; OFFSET 0 keeps the look-ups from becoming a join with all attempts.
INSERT INTO event (notification_id, delivery_id, reason, detail, at)
SELECT notification_of(w.id), w.id, %(reason)s, a.provider || ': ' || a.outcome, now()
FROM unnest(%(delivery_id)s::uuid[], %(number)s::smallint[]) AS w(id, number)
CROSS JOIN LATERAL (
    SELECT provider, outcome FROM attempt
    WHERE delivery_id = w.id AND number = w.number
      AND now() IN (started_at + latency_ms * interval '1 millisecond', answered_at)
    OFFSET 0
) a
