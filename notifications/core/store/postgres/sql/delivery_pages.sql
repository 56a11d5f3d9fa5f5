-- Return the pages of 8 kB of some partitions. Locks nothing.
SELECT coalesce(sum(pg_relation_size(c.oid)), 0)::bigint / 8192 AS pages
FROM pg_class c WHERE c.relname = ANY(%(partitions)s) AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
