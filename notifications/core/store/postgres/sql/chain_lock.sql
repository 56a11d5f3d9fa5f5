-- Lock notifications, or with `only_chains` those with fallback chains, in the order of the ids and return their
-- channels. Waits for a locked row (lock_timeout). Leaves out cancelled and expired notifications. Uses the primary key; `floor` and
-- `ceiling` prune partitions.
SELECT id, mode, priority, type, category, recipient_id, channels, template, falls_back
FROM notification
WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND (falls_back OR NOT %(only_chains)s) AND cancelled_at IS NULL AND expires_at > now()
ORDER BY id
FOR UPDATE
