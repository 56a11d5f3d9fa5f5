-- Insert a file, or keep the file with the same content for as long as a new upload, also after an erasure of its recipients. Returns the
-- row; `is_new` is false for an earlier upload. Locks the row. Uses the unique attachment_content.
INSERT INTO attachment (id, producer_id, mode, digest, type, size, content, promised_until, kept_until, created_at)
VALUES (%(id)s, %(producer)s, %(mode)s, %(digest)s, %(type)s, %(size)s, %(content)s, %(until)s, %(until)s, %(now)s)
ON CONFLICT (producer_id, mode, digest, type)
DO UPDATE SET kept_until = greatest(attachment.kept_until, excluded.kept_until), promised_until = excluded.promised_until
RETURNING id, type, size, encode(digest, 'hex') AS digest, kept_until, xmax = 0 AS is_new
