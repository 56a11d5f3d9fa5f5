-- Lock notifications with fallback chains in the order of the ids and return their chains. Waits
-- for a locked row (lock_timeout). Leaves out cancelled and expired notifications. Uses the primary key; `floor` and
-- `ceiling` prune partitions.
SELECT id, mode, priority, type, category, recipient_id, channels, template
FROM notification
WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND falls_back AND cancelled_at IS NULL AND expires_at > now()
ORDER BY id
FOR UPDATE
