-- Which of these still wait for their contact: a statement of its own after lock_notifications, so
-- that it sees what the one before us in the lock has done. Served by the primary key.
SELECT id FROM delivery
WHERE id = ANY(%(ids)s) AND status = %(scheduled)s AND contact_id IS NULL AND due_at <= now()
