-- Delete up to `limit` sketches of a cube from before an instant. Skips locked rows. Uses rollup_latency_bucket.
DELETE FROM rollup_latency WHERE cube = %(cube)s::smallint AND ctid = ANY (ARRAY(
    SELECT ctid FROM rollup_latency
    WHERE cube = %(cube)s::smallint AND bucket < %(before)s::timestamptz LIMIT %(limit)s::bigint
    FOR UPDATE SKIP LOCKED))
