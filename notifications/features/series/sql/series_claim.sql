-- Return and lock up to `limit` due enrolments of a series, longest due first, until the end of the transaction. A
-- series that is paused in the meantime returns none. Skips locked rows. Uses enrolment_due.
SELECT e.id, e.version_id, e.recipient_id, e.user_id, e.position, e.arrived_at, e.context, e.counts_from,
       e.after_event, e.results, s.state AS series_state,
       coalesce(nullif(r.timezone, ''), r.phone_timezone) AS timezone,
       coalesce(p.categories_off, '{}') AS topics_off
FROM series_enrolment e
JOIN series s ON s.id = e.series_id AND s.state <> 'paused'
JOIN notifications_recipient r ON r.id = e.recipient_id
LEFT JOIN notifications_preference p ON p.recipient_id = e.recipient_id
WHERE e.series_id = %(series)s AND e.due_at <= %(until)s
ORDER BY e.due_at
LIMIT %(limit)s
FOR NO KEY UPDATE OF e SKIP LOCKED
