-- Empty the metadata in the filters of finished cancel jobs of a mode that have one of the values, such as a user id. The
-- filter of an open job stays, because the job would match more without it; the end of the job empties the filter
-- (`cancel_jobs.jobs`). Locks the rows with a value in the order of the ids, open jobs too, so that no such job ends before
-- the commit. Reads all rows of the table, for an erasure.
WITH named AS MATERIALIZED (
    SELECT id, finished_at FROM notifications_canceljob
    WHERE mode = %(mode)s
      AND jsonb_path_exists(metadata, '$.** ? (@ == $values[*])', jsonb_build_object('values', %(values)s::text[]))
    ORDER BY id
    FOR NO KEY UPDATE
)
UPDATE notifications_canceljob SET metadata = '{}' WHERE id IN (SELECT id FROM named WHERE finished_at IS NOT NULL)
