-- Return the contents of files in parts of up to `length` bytes, with the place of each part from 1. A client holds one part at a time, and
-- Postgres reads the part alone, because a content is stored uncompressed outside of its row. Locks nothing. Uses the primary key.
SELECT a.id, s.place, substring(a.content FROM s.place FOR %(length)s::int) AS part
FROM attachment a CROSS JOIN LATERAL generate_series(1, a.size, %(length)s::int) AS s (place)
WHERE a.id = ANY(%(ids)s)
