-- Forget the sensitive variables of these notifications. Served by the primary key; the ids are constants, so the planner reads their
-- partitions and no others.
UPDATE notification SET secrets = NULL WHERE id = ANY(%(ids)s) AND secrets IS NOT NULL
