-- Lock deliveries that were read, in id order, until the end of the transaction. Uses the primary key; `floor` and
-- `ceiling` limit the partitions.
SELECT id FROM delivery
WHERE id = ANY(%(ids)s::uuid[]) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND status = %(read)s
ORDER BY id
FOR NO KEY UPDATE
