-- Delete the sketches of whole buckets between two instants. Locks the deleted rows; the caller has locked
-- rollup_position. Uses rollup_latency_bucket.
DELETE FROM rollup_latency
WHERE cube = ANY(%(cubes)s::smallint[]) AND bucket >= %(start)s::timestamptz AND bucket < %(end)s::timestamptz
