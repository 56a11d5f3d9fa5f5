-- Store the answer of an idempotency key that this transaction inserted. Locks one row. Uses the primary key.
UPDATE idempotency_key SET response = %(response)s::jsonb
WHERE producer_id = %(producer_id)s AND mode = %(mode)s AND key = %(name)s
