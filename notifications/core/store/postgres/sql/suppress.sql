-- Add addresses to the suppression list in their normal form. An active entry with the same reason stays as it is.
-- Returns the reasons of the new entries. Parameters: arrays of equal length. Inserts in the order of
-- one_active_suppression, the unique index that also finds existing entries.
INSERT INTO notifications_suppression
    (channel, address, reason, provider, note, created_at, created_by, undone_by, undo_note)
SELECT DISTINCT ON (1, 2, 3)
       w.channel, suppressible(w.channel, w.address), w.reason, %(provider)s, w.note, now(), %(by)s, '', ''
FROM unnest(%(channels)s::smallint[], %(addresses)s::text[], %(reasons)s::text[], %(notes)s::text[])
    AS w(channel, address, reason, note)
ORDER BY 1, 2, 3
ON CONFLICT (channel, address, reason) WHERE undone_at IS NULL DO NOTHING
RETURNING reason
