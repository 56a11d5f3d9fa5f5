-- Insert a file of templates, or keep the file with the same content until `until` at least. Locks the row. Uses the primary key.
INSERT INTO attachment (id, digest, type, size, content, kept_until, created_at)
VALUES (%(id)s, %(digest)s, %(type)s, %(size)s, %(content)s, %(until)s, %(now)s)
ON CONFLICT (id) DO UPDATE SET kept_until = greatest(attachment.kept_until, excluded.kept_until)
