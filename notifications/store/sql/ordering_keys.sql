-- Ordering keys that are in use, without touching them. Served by one_ordering_key.
SELECT id, key, priority FROM ordering_key
WHERE producer_id = %(producer_id)s AND mode = %(mode)s AND key = ANY(%(keys)s)
  AND used_at > now() - interval '1 hour'
