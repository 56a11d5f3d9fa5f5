-- Addresses for the suppression list, each spelled as the list does; what is on it for the same reason stays as it is. Inserts in the
-- order of the unique index one_active_suppression, which also finds what is known.
INSERT INTO notifications_suppression
    (channel, address, reason, provider, note, created_at, created_by, undone_by, undo_note)
SELECT DISTINCT ON (1, 2, 3)
       w.channel, suppressible(w.channel, w.address), w.reason, %(provider)s, w.note, now(), %(by)s, '', ''
FROM unnest(%(channels)s::smallint[], %(addresses)s::text[], %(reasons)s::text[], %(notes)s::text[])
    AS w(channel, address, reason, note)
ORDER BY 1, 2, 3
ON CONFLICT (channel, address, reason) WHERE undone_at IS NULL DO NOTHING
RETURNING reason
