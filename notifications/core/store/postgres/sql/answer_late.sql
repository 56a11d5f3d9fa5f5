-- Give the answer to calls that the rescue has recorded without an answer. A refused call sent nothing, so it costs nothing.
-- A call with another answer stays. answered_at is the time of the transaction, whose event brings the answer into the
-- roll-ups; the other times stay. Parameters: the provider of all
-- calls, the code of the rescue, arrays of equal length. Locks the attempts in the order of the ids. Uses the primary key.
WITH told AS (
    SELECT * FROM unnest(%(delivery_id)s::uuid[], %(number)s::smallint[], %(outcome)s::text[], %(code)s::text[],
                         %(detail)s::text[], %(http_status)s::smallint[], %(retry_after_s)s::int[])
        AS w(id, number, outcome, code, detail, http_status, retry_after_s)
), picked AS (
    SELECT a.delivery_id, a.number FROM attempt a
    JOIN told ON told.id = a.delivery_id AND told.number = a.number
    WHERE a.delivery_id = ANY(%(delivery_id)s) AND a.provider = %(provider)s
      AND a.outcome = 'unanswered' AND a.code = %(lost)s
    ORDER BY a.delivery_id, a.number
    FOR UPDATE OF a
)
UPDATE attempt a
SET outcome = told.outcome, code = left(told.code, 64), detail = told.detail, http_status = told.http_status,
    retry_after_s = told.retry_after_s, cost_micros = CASE WHEN told.outcome = 'accepted' THEN a.cost_micros END, answered_at = now()
FROM told
JOIN picked ON picked.delivery_id = told.id AND picked.number = told.number
WHERE a.delivery_id = told.id AND a.number = told.number AND a.delivery_id = ANY(%(delivery_id)s)
