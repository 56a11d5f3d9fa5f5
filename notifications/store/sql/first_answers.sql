SELECT key, body_hash, response::text AS response FROM idempotency_key
WHERE producer_id = %(producer_id)s AND mode = %(mode)s AND key = ANY(%(keys)s)
