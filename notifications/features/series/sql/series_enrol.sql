-- Enrol recipients in a series; return the new rows. Parameters: arrays of equal length, one row for each recipient.
-- A recipient with a running enrolment is left out; with `once` also a recipient enrolled before. The unique
-- indexes one_enrolment_number and one_running_enrolment decide between concurrent calls. The recipients are locked
-- against a deletion until the end of the transaction.
WITH wanted AS (
    SELECT * FROM unnest(%(recipients)s::bigint[], %(user_ids)s::text[], %(contexts)s::text[],
                         %(counts_from)s::timestamptz[], %(after)s::bigint[])
        AS w(recipient, user_id, context, counts_from, after)
), present AS MATERIALIZED (
    SELECT id FROM notifications_recipient WHERE id = ANY(%(recipients)s::bigint[]) ORDER BY id FOR KEY SHARE
)
INSERT INTO series_enrolment
    (series_id, version_id, recipient_id, user_id, number, state, exit_reason, position, arrived_at, due_at, context,
     counts_from, after_event, results, problem, enrolled_at, enrolled_by)
SELECT %(series)s, %(version)s, w.recipient, w.user_id, earlier.number + 1, 'running', '', %(position)s, now(), now(),
       w.context::jsonb, coalesce(w.counts_from, now()), w.after, 0, '', now(), %(by)s
FROM wanted w
JOIN present ON present.id = w.recipient
CROSS JOIN LATERAL (
    SELECT coalesce(max(e.number), 0) AS number FROM series_enrolment e
    WHERE e.series_id = %(series)s AND e.recipient_id = w.recipient
) earlier
WHERE earlier.number = 0 OR NOT %(once)s::boolean
ON CONFLICT DO NOTHING
RETURNING id, recipient_id
