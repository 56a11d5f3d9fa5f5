-- Deliveries by the provider's id. Served by delivery_by_provider_id: one probe for each of the last days' partitions.
SELECT id, provider_message_id FROM delivery
WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND provider_message_id = ANY(%(message_ids)s) AND provider_message_id <> ''
