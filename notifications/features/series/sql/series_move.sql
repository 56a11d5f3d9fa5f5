-- Store the positions of enrolments that this transaction has locked. Parameters: arrays of equal length; an ended
-- enrolment has no due time. Uses the primary key.
UPDATE series_enrolment e
SET position = w.position, arrived_at = w.arrived_at, due_at = w.due_at, context = w.context::jsonb,
    results = w.results, problem = w.problem,
    state = w.state, exit_reason = w.exit_reason,
    ended_at = CASE WHEN w.due_at IS NULL THEN %(now)s::timestamptz END
FROM unnest(%(ids)s::bigint[], %(positions)s::text[], %(arrived_at)s::timestamptz[], %(due_at)s::timestamptz[],
            %(contexts)s::text[], %(results)s::int[], %(problems)s::text[], %(states)s::text[],
            %(exit_reasons)s::text[])
    AS w(id, position, arrived_at, due_at, context, results, problem, state, exit_reason)
WHERE e.id = w.id
