-- Return the delivery that each client receipt is about, and the contact; no row for a receipt without a delivery.
-- `low` and `high` are equal for a receipt that names a delivery, else the range of the notification's deliveries.
-- Only a called delivery of the recipient and mode counts, and nothing counts after the recipient's erasure. Of a
-- notification: a delivery on a channel of the app, or the only delivery. Of several devices: the first with an
-- accepted call, so that a repeat finds the same row.
-- Locks nothing. Uses the primary keys; `floor` and `ceiling` limit the partitions.
SELECT w.place, found.id, found.contact_id
FROM unnest(%(places)s::int[], %(lows)s::uuid[], %(highs)s::uuid[], %(recipients)s::bigint[], %(modes)s::smallint[])
    AS w(place, low, high, recipient_id, mode)
CROSS JOIN LATERAL (
    SELECT d.id, d.contact_id
    FROM delivery d
    WHERE d.id >= w.low AND d.id <= w.high
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.recipient_id = w.recipient_id
      AND d.mode = w.mode
      AND d.attempts > 0
      AND EXISTS (SELECT FROM notifications_recipient r WHERE r.id = w.recipient_id)
      AND (w.low = w.high OR d.channel = ANY(%(app_channels)s::smallint[]) OR NOT EXISTS (
          SELECT FROM delivery o
          WHERE o.id >= w.low AND o.id <= w.high AND o.id <> d.id
            AND o.id >= %(floor)s::uuid AND o.id < %(ceiling)s::uuid))
    ORDER BY d.status = ANY(%(accepted)s::smallint[]) DESC, d.id
    LIMIT 1
) found
