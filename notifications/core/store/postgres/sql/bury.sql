-- Insert a dead letter for each delivery that has just failed. The snapshot outlives the partition of the
-- notification. A delivery has one open dead letter at most: the letter of a delivery that had no answer takes the
-- cause that is known now. Parameters: `ids` and `details` of equal length; `notification_ids` prunes partitions. Locks
-- the new rows and, in the order of the deliveries, the open letters. Uses the primary keys and the unique open letter.
INSERT INTO notifications_deadletter
    (delivery_id, mode, priority, channel, producer_id, recipient_id, contact_id, provider, reason, detail, snapshot,
     created_at, resolution)
SELECT d.id, d.mode, d.priority, d.channel, n.producer_id, d.recipient_id, d.contact_id, d.provider, d.reason, w.detail,
       jsonb_build_object('user_id', n.user_id, 'type', n.type, 'template_id', t.template_id,
                          'template_version', t.version, 'template_variant', n.template_variant,
                          'variables', n.variables, 'content', n.content, 'metadata', n.metadata, 'inbox', n.inbox,
                          'attachments', n.attachments, 'had_secrets', n.secrets IS NOT NULL),
       now(), ''
FROM unnest(%(ids)s::uuid[], %(details)s::text[]) AS w(id, detail)
JOIN delivery d ON d.id = w.id
JOIN notification n ON n.id = notification_of(d.id)
LEFT JOIN notifications_template t ON t.id = n.template
WHERE d.id = ANY(%(ids)s) AND n.id = ANY(%(notification_ids)s)
ORDER BY d.id
ON CONFLICT (delivery_id) WHERE resolved_at IS NULL
DO UPDATE SET reason = excluded.reason, detail = excluded.detail, provider = excluded.provider
