-- Write the ledgers and the reservations of calls. The caller has locked the ledgers.
WITH ledger AS (
    UPDATE budget_day l SET used_micros = w.used, refused_micros = w.refused
    FROM unnest(%(ledger)s::bigint[], %(used)s::bigint[], %(refused)s::bigint[]) AS w(id, used, refused)
    WHERE l.id = w.id
)
INSERT INTO budget_reservation (delivery_id, token, micros, ledgers, created_at)
SELECT w.id, %(token)s, w.micros, string_to_array(w.ledgers, ' ')::bigint[], now()
FROM unnest(%(ids)s::uuid[], %(micros)s::bigint[], %(ledgers)s::text[]) AS w(id, micros, ledgers)
