-- Store the answer under a key that this transaction has taken. Served by the primary key.
UPDATE idempotency_key SET response = %(response)s::jsonb
WHERE producer_id = %(producer_id)s AND mode = %(mode)s AND key = %(name)s
