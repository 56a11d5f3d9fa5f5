-- Return the notifications of a partition for the archive, sorted by recipient and id. `person_key` is the sealed key of
-- the recipient; `personal` is a JSON array of the values that identify a person (see `personal`). Variables
-- that any version of the template declares as sensitive are left out, and `secrets` is never read. Locks nothing.
-- Reads the partitions once, in the order of the primary keys where details are collected, and sorts the notifications.
-- A partition that was frozen before a migration lacks the column `template_variant`: the name then means the outer
-- column, `absent`.
SELECT n.id, n.producer_id, n.mode, n.priority, n.type, n.category, n.retry_preset, n.recipient_id, n.template,
       array_to_string(n.channels, ' ') AS channels, n.spread, n.falls_back, n.traceparent, n.scheduled_at, n.local_at,
       n.local_zone, n.expires_at, n.cancelled_at, n.created_at, n.bulk_job_id, n.variant, n.variant_of_texts,
       encode(k.sealed, 'hex') AS person_key, n.idempotency_key,
       json_build_array(n.user_id, n.content, CASE WHEN h.names IS NULL THEN n.variables ELSE n.variables - h.names END,
                        n.metadata, n.collapse_key, n.ordering_key, n.webhook_url, n.idempotency_key, e.details, a.details,
                        n.inbox, n.attachments)
           ::text AS personal
FROM (SELECT ''::varchar AS template_variant) absent
CROSS JOIN LATERAL (SELECT *, template_variant AS variant_of_texts FROM {notification}) n
LEFT JOIN archive_key k ON k.recipient_id = n.recipient_id
LEFT JOIN (
    SELECT t.id, array_agg(DISTINCT name::text) AS names
    FROM notifications_template t
    JOIN notifications_template every ON every.template_id = t.template_id
    CROSS JOIN LATERAL unnest(every.sensitive_variables) AS name
    GROUP BY t.id
) h ON h.id = n.template
LEFT JOIN (
    SELECT notification_id, json_object_agg(seq, detail) AS details FROM {event} WHERE detail <> '' GROUP BY notification_id
) e ON e.notification_id = n.id
LEFT JOIN (
    SELECT notification_of(delivery_id) AS notification_id, json_object_agg(delivery_id || ' ' || number, detail) AS details
    FROM {attempt} WHERE detail <> '' GROUP BY notification_of(delivery_id)
) a ON a.notification_id = n.id
ORDER BY n.recipient_id, n.id
