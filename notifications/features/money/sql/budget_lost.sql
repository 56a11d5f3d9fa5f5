-- Return reservations without an outcome from ended claims, with the evidence about the call: `was_called` is true
-- if a call of the claim began, `was_refused` if the call has an outcome other than accepted or unanswered. Locks the
-- reservations and skips locked reservations. Reads budget_reservation, which holds calls under way; uses the primary keys of
-- delivery and attempt, and `floor` prunes partitions.
SELECT r.delivery_id, d.id IS NULL OR coalesce(d.call_started_at >= r.created_at, false)
           OR d.status = ANY(%(called)s::smallint[]) AS was_called,
       coalesce(a.outcome NOT IN ('accepted', 'unanswered'), false) AS was_refused
FROM budget_reservation r
LEFT JOIN delivery d ON d.id = r.delivery_id AND d.id >= %(floor)s::uuid
LEFT JOIN attempt a ON a.delivery_id = d.id AND a.number = d.attempts AND a.delivery_id >= %(floor)s::uuid
WHERE r.settled_micros IS NULL AND r.created_at < now() - %(age)s::interval
  AND (d.id IS NULL OR d.status <> %(sending)s OR d.claim_token <> r.token)
ORDER BY r.delivery_id LIMIT %(limit)s
FOR UPDATE OF r SKIP LOCKED
