-- Remove the variables in `names` from the snapshots of up to `limit` dead letters of a template; a replay uses the
-- encrypted variables of the notification while they are stored. Locks the changed rows. Reads the table of the dead
-- letters sequentially, once for each batch of each job.
UPDATE notifications_deadletter SET snapshot = jsonb_set(
    jsonb_set(snapshot, '{variables}', (snapshot->'variables') - %(names)s::text[]), '{had_secrets}', 'true')
WHERE id IN (
    SELECT id FROM notifications_deadletter
    WHERE snapshot->>'template_id' = %(template_id)s AND (snapshot->'variables') ?| %(names)s::text[]
    ORDER BY id LIMIT %(limit)s FOR UPDATE)
