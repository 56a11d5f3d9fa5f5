-- Take variables out of the snapshots of dead letters; a replay uses those of the notification, as long as it has them.
-- Locks the letters that it changes. Reads the table of dead letters, once for each batch of each job.
UPDATE notifications_deadletter SET snapshot = jsonb_set(
    jsonb_set(snapshot, '{variables}', (snapshot->'variables') - %(names)s::text[]), '{had_secrets}', 'true')
WHERE id IN (
    SELECT id FROM notifications_deadletter
    WHERE snapshot->>'template_id' = %(template_id)s AND (snapshot->'variables') ?| %(names)s::text[]
    ORDER BY id LIMIT %(limit)s FOR UPDATE)
