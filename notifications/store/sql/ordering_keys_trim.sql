-- Keys that were not used for a day and have nobody in line. One that is used again at this moment is locked, looked at anew and kept.
DELETE FROM ordering_key k
WHERE k.id = ANY(ARRAY(SELECT id FROM ordering_key WHERE used_at < now() - interval '1 day' LIMIT %(limit)s))
  AND k.used_at < now() - interval '1 day'
  AND NOT EXISTS (SELECT 1 FROM ordered_delivery o WHERE o.key_id = k.id)
