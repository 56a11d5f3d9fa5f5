-- Return the time of the first mark of the last day with the transaction of the newest mark: since then the oldest
-- open transaction is the same. Locks nothing. Uses the primary key of change_mark.
SELECT min(m.at) AS since
FROM change_mark m
WHERE m.at > now() - interval '1 day'
  AND m.xid = (SELECT xid FROM change_mark ORDER BY at DESC LIMIT 1)
