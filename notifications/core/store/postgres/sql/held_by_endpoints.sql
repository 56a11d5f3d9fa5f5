-- Return a page of the rows of one lane that paused endpoints hold, with the addresses, in the order of due_at and
-- id. The page begins after (`after`, `after_id`). Locks nothing. Uses delivery_due and the primary key of the
-- contacts.
SELECT d.id, d.due_at, c.address
FROM (
    SELECT id, due_at, contact_id
    FROM delivery
    WHERE status = %(scheduled)s AND mode = %(live)s AND priority = %(priority)s AND channel = %(channel)s
      AND reason = %(reason)s AND id >= %(floor)s AND id < %(ceiling)s
      AND due_at >= %(after)s AND (due_at, id) > (%(after)s, %(after_id)s)
    ORDER BY due_at, id
    LIMIT %(page)s
) d
JOIN notifications_contact c ON c.id = d.contact_id
ORDER BY d.due_at, d.id
