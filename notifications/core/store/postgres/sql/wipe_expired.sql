-- Delete the sensitive variables of these notifications. Locks the rows. Uses the primary key; the ids are
-- constants, so the planner prunes partitions.
UPDATE notification SET secrets = NULL WHERE id = ANY(%(ids)s) AND secrets IS NOT NULL
