-- Open dead letters by reason, bounded. Locks nothing; dead_letter_open serves it.
SELECT bounded.reason, count(*) AS letters
FROM (
  SELECT reason FROM notifications_deadletter
  WHERE resolved_at IS NULL AND mode = %(mode)s::smallint
  LIMIT %(counted)s::bigint
) bounded
GROUP BY bounded.reason
ORDER BY bounded.reason
