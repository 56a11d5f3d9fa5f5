-- Return the recipients, of some recipients, with a notification of a bulk job. Locks nothing. Uses
-- notification_by_recipient, and `floor` prunes partitions.
SELECT w.id FROM unnest(%(recipients)s::bigint[]) AS w(id)
WHERE EXISTS (
    SELECT FROM notification n
    WHERE n.recipient_id = w.id AND n.id >= %(floor)s::uuid AND n.bulk_job_id = %(job)s::uuid
)
