-- Let a due row that a sweep could not handle wait, so that rows behind it come first. The caller has locked the row.
-- Uses the primary key; `floor` and `ceiling` prune partitions.
UPDATE delivery SET due_at = now() + %(wait)s
WHERE id = %(id)s AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND due_at <= now()
