-- Insert one row per provider call; of a call with a row nothing. Parameters: the provider of all calls, arrays of equal
-- length (an empty one for a column without values); the ids from `floor` to before `ceiling` hold the deliveries. Locks
-- the new rows. Uses the primary key.
-- A row of the same call that another transaction inserts at the same moment is a unique violation; the repeated
-- statement finds the row. ON CONFLICT would write a further record of WAL for each row. OFFSET 0 keeps the look-ups
-- from becoming a join with all attempts.
INSERT INTO attempt (delivery_id, number, provider, outcome, code, detail, started_at, latency_ms,
                     segments, http_status, retry_after_s, signed_with, country, cost_micros, reserved_at)
SELECT w.id, w.number, %(provider)s, w.outcome, left(w.code, 64), w.detail,
       now() - w.latency_ms * interval '1 millisecond', w.latency_ms, w.segments, w.http_status,
       w.retry_after_s, w.signed_with, w.country, w.cost_micros, w.reserved_at
FROM unnest(%(delivery_id)s::uuid[], %(number)s::smallint[], %(outcome)s::text[], %(code)s::text[],
            %(detail)s::text[], %(latency_ms)s::int[], %(segments)s::smallint[],
            %(http_status)s::smallint[], %(retry_after_s)s::int[], %(signed_with)s::text[], %(country)s::text[],
            %(cost_micros)s::bigint[], %(reserved_at)s::timestamptz[])
    AS w(id, number, outcome, code, detail, latency_ms, segments, http_status, retry_after_s,
         signed_with, country, cost_micros, reserved_at)
WHERE NOT EXISTS (
    SELECT FROM attempt a
    WHERE a.delivery_id = w.id AND a.number = w.number
      AND a.delivery_id >= %(floor)s::uuid AND a.delivery_id < %(ceiling)s::uuid
    OFFSET 0)
