-- True if the check of an ordering key is due, or an ordering key can be deleted (see ordering_trim). Uses
-- ordering_key_look and ordering_key_used.
EXISTS (SELECT FROM ordering_key WHERE look_at <= now())
OR EXISTS (
    SELECT FROM ordering_key k
    WHERE k.used_at < now() - interval '1 day'
      AND NOT EXISTS (SELECT FROM ordered_delivery o WHERE o.key_id = k.id)
)
