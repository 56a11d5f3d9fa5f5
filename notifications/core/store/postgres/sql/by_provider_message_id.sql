-- Return the deliveries with these provider message ids. `floor` and `ceiling` limit the partitions. Locks nothing.
-- Uses delivery_by_provider_id, once for each partition.
SELECT id, provider, provider_message_id FROM delivery
WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND provider_message_id = ANY(%(message_ids)s) AND provider_message_id <> ''
