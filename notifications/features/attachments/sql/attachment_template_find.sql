-- Return the files of `ids` that the producer uploaded in the mode, or that are of templates. Locks nothing. Uses the primary key.
SELECT id, type, size, encode(digest, 'hex') AS digest
FROM attachment
WHERE id = ANY(%(ids)s) AND (producer_id IS NULL OR (producer_id = %(producer)s AND mode = %(mode)s))
