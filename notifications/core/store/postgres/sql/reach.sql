-- Return the live notifications between `floor` and `ceiling` by priority, result (rules.reach) and whether the id is `recent` or higher,
-- with the percentage of the table's pages that was read. A notification without a delivery that was tried is left out.
-- A sample bounds the work: the rows of about `pages` pages, chosen at random by the number of the page over all `partitions`, so each
-- row has the same chance; a smaller table is read whole. Locks nothing. Each row of the sample reads one range of the primary key of
-- delivery; `floor` and `ceiling` are in one day and prune the other partitions.
WITH size AS MATERIALIZED (
    SELECT least(100, 100.0 * %(pages)s::bigint * current_setting('block_size')::bigint
                      / greatest(sum(pg_relation_size(to_regclass(name))), 1))::float8 AS percent
    FROM unnest(%(partitions)s::text[]) AS name
), sampled AS MATERIALIZED (
    SELECT id, priority
    FROM notification TABLESAMPLE SYSTEM ((SELECT percent FROM size)) REPEATABLE (0)
    WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND mode = %(mode)s AND cancelled_at IS NULL
), judged AS MATERIALIZED ( -- or the filter reads the deliveries once more
    SELECT s.priority, s.id >= %(recent)s::uuid AS is_recent, (
        SELECT CASE
            WHEN bool_or(d.status = ANY(%(arrived)s)
                         OR (d.status = %(sent)s AND d.due_at IS NULL AND d.provider = ANY(%(without_receipts)s))) THEN 'reached'
            WHEN bool_or(d.due_at IS NOT NULL OR d.status = ANY(%(open)s)) THEN 'open'
            WHEN bool_or(d.status = ANY(%(taken)s)) THEN 'unconfirmed'
            WHEN bool_or((d.status = ANY(%(given_up)s) AND d.reason <> ALL(%(no_failure)s))
                         OR (d.status = %(suppressed)s AND d.reason = %(stale)s)) THEN 'failed'
            WHEN bool_or(d.status = %(bounced)s OR (d.status = %(failed)s AND d.reason = ANY(%(refused)s))) THEN 'rejected'
            WHEN bool_or(d.status = %(failed)s) THEN 'failed' -- escalated, and the channel behind was not tried
        END
        FROM delivery d
        WHERE d.id > s.id AND d.id <= last_delivery_of(s.id) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    ) AS result
    FROM sampled s
)
SELECT priority, result, is_recent, count(*) AS found, (SELECT percent FROM size) AS percent
FROM judged
WHERE result IS NOT NULL
GROUP BY priority, result, is_recent
