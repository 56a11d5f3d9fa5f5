-- Begin the default time to live again, for notifications that still have it: a time to live that the producer gave
-- stays. Locks the notifications in the order of the ids. Uses the primary key.
WITH picked AS (
    SELECT id FROM notification
    WHERE id = ANY(%(ids)s::uuid[]) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND abs(extract(epoch FROM expires_at - greatest(created_at, scheduled_at)
                                 - (%(lives)s::interval[])[priority + 1])) < 1
    ORDER BY id
    FOR UPDATE
)
UPDATE notification SET expires_at = now() + (%(lives)s::interval[])[priority + 1]
WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
