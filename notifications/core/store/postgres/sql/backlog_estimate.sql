-- Count the due rows of each lane among a random share of the pages of the partitions between `floor` and `ceiling`.
-- Locks nothing. Reads `percent` % of the pages and no index.
SELECT d.mode, d.priority, d.channel, count(*) AS found
FROM delivery d TABLESAMPLE SYSTEM (%(percent)s::real)
WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid AND d.status = ANY(%(statuses)s) AND d.due_at <= now()
GROUP BY d.mode, d.priority, d.channel
