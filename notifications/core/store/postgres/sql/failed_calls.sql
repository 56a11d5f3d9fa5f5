-- Return the call that each failure receipt is about, and the number of the last call; no row for a delivery without a
-- call of the provider. The call is the accepted call with the message id; else the last call if the status of the
-- delivery comes from the message (an answer or a receipt came after the call had been recorded as unanswered); else the
-- last call of the provider without an answer before the last call; else the last call of the provider. `is_over`:
-- another call follows, the delivery was stopped, or the message of another call was delivered. Parameters: arrays of
-- equal length. Locks nothing. Uses the primary keys; `floor` and `ceiling` prune partitions.
SELECT w.place - 1 AS place, d.attempts AS last, made.call,
       d.status = ANY(%(over)s) OR (d.status = %(sending)s AND d.call_started_at IS NULL)
       OR (d.status = %(delivered)s AND d.attempts > 1 AND d.provider_message_id NOT IN ('', w.message_id)) AS is_over
FROM unnest(%(ids)s::uuid[], %(message_ids)s::text[]) WITH ORDINALITY AS w(id, message_id, place)
CROSS JOIN LATERAL (
    SELECT status, attempts, call_started_at, provider, provider_message_id FROM delivery
    WHERE id = w.id AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid OFFSET 0
) d
CROSS JOIN LATERAL (
    SELECT coalesce(
               max(a.number) FILTER (WHERE a.outcome = 'accepted' AND w.message_id <> '' AND a.detail = w.message_id),
               CASE WHEN w.message_id <> '' AND w.message_id = d.provider_message_id
                         AND d.status = ANY(%(accepted)s) THEN d.attempts END,
               max(a.number) FILTER (WHERE a.outcome = 'unanswered' AND a.number < d.attempts),
               CASE WHEN d.provider = %(provider)s THEN d.attempts ELSE max(a.number) END) AS call
    FROM attempt a
    WHERE a.delivery_id = w.id AND a.delivery_id >= %(floor)s::uuid AND a.delivery_id < %(ceiling)s::uuid
      AND a.provider = %(provider)s
) made
WHERE made.call IS NOT NULL
