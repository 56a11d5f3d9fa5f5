-- Delete up to `limit` counts of a cube from before an instant. Skips locked rows. Uses rollup_bucket.
DELETE FROM rollup WHERE cube = %(cube)s::smallint AND ctid = ANY (ARRAY(
    SELECT ctid FROM rollup
    WHERE cube = %(cube)s::smallint AND bucket < %(before)s::timestamptz LIMIT %(limit)s::bigint
    FOR UPDATE SKIP LOCKED))
