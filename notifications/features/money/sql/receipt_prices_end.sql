-- Delete the prices that have settled a cost or came a day ago, and look for the calls of the others again after the
-- time that they have waited, at least a second. The caller has locked the rows. Uses the primary key.
WITH picked AS MATERIALIZED (
    SELECT * FROM unnest(%(delivery_id)s::uuid[], %(provider)s::text[], %(message_id)s::text[], %(is_done)s::boolean[])
        AS w(id, provider, message_id, is_done)
), gone AS (
    DELETE FROM receipt_price p USING picked w
    WHERE p.delivery_id = w.id AND p.provider = w.provider AND p.message_id = w.message_id
      AND (w.is_done OR p.created_at < now() - interval '1 day')
)
UPDATE receipt_price p SET due_at = now() + greatest(interval '1 second', now() - p.created_at)
FROM picked w
WHERE p.delivery_id = w.id AND p.provider = w.provider AND p.message_id = w.message_id
  AND NOT w.is_done AND p.created_at >= now() - interval '1 day'
