-- Count the open dead letters of a mode by reason, at most `counted` in all. Locks nothing. Uses dead_letter_open.
SELECT bounded.reason, count(*) AS letters
FROM (
  SELECT reason FROM notifications_deadletter
  WHERE resolved_at IS NULL AND mode = %(mode)s::smallint
  LIMIT %(counted)s::bigint
) bounded
GROUP BY bounded.reason
ORDER BY bounded.reason
