-- Return the calls of receipts: the accepted call with the provider's message id, or for an old receipt the last call
-- without an answer. Locks nothing. `floor` and `ceiling` are constants, so the planner prunes partitions. OFFSET 0
-- keeps the look-ups by primary key from becoming joins with all rows.
SELECT w.place, a.*, n.producer_id, n.mode, d.channel
FROM unnest(%(delivery_id)s::uuid[], %(provider)s::text[], %(message_id)s::text[], %(is_old)s::boolean[])
    WITH ORDINALITY AS w(id, provider, message_id, is_old, place)
CROSS JOIN LATERAL (
    SELECT number, outcome, segments AS known_segments, cost_micros, coalesce(reserved_at, started_at) AS counted_at,
           settled_at IS NOT NULL AS is_settled
    FROM attempt
    WHERE delivery_id = w.id AND delivery_id >= %(floor)s::uuid AND delivery_id < %(ceiling)s::uuid
      AND provider = w.provider
      AND (outcome = 'accepted' AND (w.message_id = '' OR detail = w.message_id) OR outcome = 'unanswered' AND w.is_old)
    ORDER BY outcome, number DESC
    LIMIT 1
) a
CROSS JOIN LATERAL (
    SELECT producer_id, mode FROM notification
    WHERE id = notification_of(w.id) AND id >= notification_of(%(floor)s::uuid) AND id < %(ceiling)s::uuid OFFSET 0
) n
CROSS JOIN LATERAL (
    SELECT channel FROM delivery
    WHERE id = w.id AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid OFFSET 0
) d
