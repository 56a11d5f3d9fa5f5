-- Deliveries by the provider's id. Served by delivery_by_provider_id, one probe a partition.
SELECT id, provider_message_id FROM delivery
WHERE provider_message_id = ANY(%(message_ids)s) AND provider_message_id <> ''
