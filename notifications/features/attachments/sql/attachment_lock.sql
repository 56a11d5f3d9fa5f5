-- Lock those of the files `ids` whose recipients are stored, in the order of the ids, until the end of the transaction. A file that
-- becomes a file of many recipients during the wait is not returned. Uses the primary key.
SELECT id FROM attachment WHERE id = ANY(%(ids)s) AND NOT is_shared ORDER BY id FOR NO KEY UPDATE
