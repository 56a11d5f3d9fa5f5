-- Copy files to files of templates, and return the copies. A content that templates have already is kept until `until` at least. Locks the
-- copies in the order of the ids. A source that is deleted meanwhile has no copy. Parameters: `sources` and `copies` of equal length,
-- each copy once. Uses the primary key.
INSERT INTO attachment (id, mode, digest, type, size, content, kept_until, created_at)
SELECT w.copy, a.mode, a.digest, a.type, a.size, a.content, %(until)s, %(now)s
FROM unnest(%(sources)s::uuid[], %(copies)s::uuid[]) AS w(source, copy) JOIN attachment a ON a.id = w.source
ORDER BY w.copy
ON CONFLICT (id) DO UPDATE SET kept_until = greatest(attachment.kept_until, excluded.kept_until)
RETURNING id
