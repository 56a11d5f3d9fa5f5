-- Return up to `limit` deliveries that the switch of a bulk job holds, longest due first. Locks the rows and skips
-- locked rows. Uses delivery_switched, once for each partition.
SELECT id FROM delivery
WHERE reason IN ('paused', 'channel_paused') AND status = %(scheduled)s
  AND switch_id = %(switch)s AND due_at > now()
ORDER BY due_at
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
