-- Return the notifications of claimed deliveries. Locks nothing. Uses the primary key. The ids from `floor` to before
-- `ceiling` hold the rows. The planner must not see the ids: it would compare each id with the bounds of each partition.
SELECT content::text, variables::text, id, producer_id, type, category, retry_preset, user_id, template, secrets,
       collapse_key, ordering_key, traceparent, expires_at, cancelled_at IS NOT NULL, scheduled_at IS NOT NULL,
       greatest(created_at, scheduled_at), starts_with(idempotency_key, %(digest)s), inbox::text, bulk_job_id,
       idempotency_key, attachments::text, template_variant
FROM notification
WHERE id = ANY((SELECT %(ids)s::uuid[])::uuid[])
  AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
