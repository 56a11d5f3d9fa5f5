-- Return up to `limit` deliveries with a provider message id, the newest first. Locks nothing. Uses delivery_by_message_hash, once for
-- each partition: the hash finds the row, and the text decides. MATERIALIZED, because PostgreSQL has no statistics of the hashes of a partial
-- index: for a small limit the planner would read the primary keys of all partitions from the newest row down.
WITH known AS MATERIALIZED (
    SELECT id FROM delivery
    WHERE hashtextextended(provider_message_id, 0) = hashtextextended(%(message_id)s::text, 0)
      AND provider_message_id = %(message_id)s::text AND provider_message_id <> ''
)
SELECT id FROM known ORDER BY id DESC LIMIT %(limit)s
