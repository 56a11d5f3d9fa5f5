-- End the reservations of calls with an outcome. A call with the reserved price needs no change of the ledgers, so its
-- reservation is deleted; another price (0: the call failed) waits for budget_apply. A null price stands for the
-- reserved price. With a token, reservations of other claims stay. Returns the reservations with their final price.
-- Locks the reservations, which no other process uses. Uses the primary key.
WITH outcome AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(micros)s::bigint[]) AS w(id, micros)
), done AS (
    DELETE FROM budget_reservation r USING outcome w
    WHERE r.delivery_id = w.id AND (%(token)s::uuid IS NULL OR r.token = %(token)s)
      AND r.settled_micros IS NULL AND coalesce(w.micros, r.micros) = r.micros
    RETURNING r.delivery_id, r.micros, false AS is_pending
), changed AS (
    UPDATE budget_reservation r SET settled_micros = w.micros FROM outcome w
    WHERE r.delivery_id = w.id AND (%(token)s::uuid IS NULL OR r.token = %(token)s)
      AND r.settled_micros IS NULL AND w.micros <> r.micros
    RETURNING r.delivery_id, w.micros, true AS is_pending
)
SELECT * FROM done UNION ALL SELECT * FROM changed
