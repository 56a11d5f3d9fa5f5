-- Store the settled costs of calls, and an event for each cost with a detail; the roll-ups count the difference with the
-- event. A settled call stays. Returns the deliveries that changed. Parameters: arrays of equal length, each delivery
-- once. Locks the attempts. Uses the primary key; `floor` and `ceiling` prune partitions.
WITH changed AS (
    UPDATE attempt a
    SET settled_micros = w.micros, settled_at = now(), segments = coalesce(w.segments, a.segments)
    FROM unnest(%(delivery_id)s::uuid[], %(number)s::smallint[], %(micros)s::bigint[], %(segments)s::smallint[],
                %(detail)s::text[]) AS w(id, number, micros, segments, detail)
    WHERE a.delivery_id = w.id AND a.number = w.number AND a.settled_at IS NULL
      AND a.delivery_id >= %(floor)s::uuid AND a.delivery_id < %(ceiling)s::uuid
    RETURNING a.delivery_id, w.detail
), told AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT notification_of(delivery_id), delivery_id, %(reason)s, detail, now() FROM changed WHERE detail <> ''
)
SELECT delivery_id FROM changed
