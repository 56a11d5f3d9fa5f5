-- Return the deliveries with these provider message ids. `floor` and `ceiling` limit the partitions. Locks nothing.
-- Uses delivery_by_message_hash, once for each partition: the hash finds the row, and the text decides.
SELECT id, provider, provider_message_id FROM delivery
WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND hashtextextended(provider_message_id, 0) = ANY(ARRAY(
      SELECT hashtextextended(name, 0) FROM unnest(%(message_ids)s::text[]) AS w(name)))
  AND provider_message_id = ANY(%(message_ids)s) AND provider_message_id <> ''
