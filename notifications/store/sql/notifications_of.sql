-- What was asked for, for claimed deliveries. Served by the primary key.
SELECT id, producer_id, type, category, retry_preset, user_id, template, content::text AS content,
       variables::text AS variables, secrets, collapse_key, ordering_key, traceparent, expires_at, cancelled_at, now() AS read_at
FROM notification
WHERE id = ANY(%(ids)s)
