-- Look at the next `limit` series after the id `after`, and delete those without counts and sketches. Returns one row: the
-- number of deleted series, and the highest id of the page; NULL if the page has the last series. Locks the deleted
-- rows; the caller has locked rollup_position, because a count that is not committed can name a series without rows.
-- Uses the primary keys. A cube is ten times the step (1 to 3) plus the dimension set. LIMIT keeps the look-ups from becoming joins with all rows.
WITH page AS MATERIALIZED (
    SELECT id, dimension_set FROM rollup_series WHERE id > %(after)s::integer ORDER BY id LIMIT %(limit)s::bigint
), deleted AS (
    DELETE FROM rollup_series s USING page p
    WHERE s.id = p.id
      AND (SELECT 1 FROM rollup r
           WHERE r.cube = ANY(ARRAY[30 + p.dimension_set, 20 + p.dimension_set, 10 + p.dimension_set]::smallint[])
             AND r.series = p.id LIMIT 1) IS NULL
      AND (SELECT 1 FROM rollup_latency r
           WHERE r.cube = ANY(ARRAY[30 + p.dimension_set, 20 + p.dimension_set, 10 + p.dimension_set]::smallint[])
             AND r.series = p.id LIMIT 1) IS NULL
    RETURNING s.id
)
SELECT (SELECT count(*) FROM deleted) AS deleted,
       (SELECT max(id) FROM page HAVING count(*) >= %(limit)s::bigint) AS last
