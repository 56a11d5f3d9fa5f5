-- Examine the next `examined` notifications after an id, up to `until`. Return the last examined id, their number, and
-- the matching ids with a delivery that can still leave: an open delivery, a delivery with a due time (a confirm window,
-- an unanswered call), or a sent member of a fallback chain, after which the next channel can follow. Locks nothing. Uses the primary keys of both tables; `after` and `until`
-- prune partitions.
WITH page AS MATERIALIZED (
    SELECT id, producer_id, bulk_job_id, mode, priority, type, template, metadata, cancelled_at, expires_at
    FROM notification
    WHERE id > %(after)s::uuid AND id <= %(until)s::uuid
      AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
    ORDER BY id
    LIMIT %(examined)s
), matching AS (
    SELECT p.id, p.priority
    FROM page p
    WHERE p.mode = %(mode)s
      AND p.cancelled_at IS NULL
      AND (%(producer)s::bigint IS NULL OR p.producer_id = %(producer)s)
      AND (%(bulk_job)s::uuid IS NULL OR p.bulk_job_id = %(bulk_job)s)
      AND (%(type)s::text = '' OR p.type = %(type)s)
      AND (%(templates)s::bigint[] IS NULL OR p.template = ANY(%(templates)s))
      AND (%(priority)s::smallint IS NULL OR p.priority = %(priority)s)
      AND p.metadata @> %(metadata)s::jsonb
      AND EXISTS (
          SELECT FROM delivery d
          WHERE d.id > p.id AND d.id <= last_delivery_of(p.id)
            AND d.id > %(after)s::uuid AND d.id <= last_delivery_of(%(until)s::uuid)
            AND (d.status = ANY(%(open)s) OR d.due_at IS NOT NULL
                 OR (d.status = %(sent)s AND d.falls_back AND p.expires_at > now())))
)
SELECT (SELECT count(*) FROM page) AS examined,
       (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
       (SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM matching) AS ids,
       (SELECT coalesce(array_agg(priority ORDER BY id), '{}') FROM matching) AS priorities
