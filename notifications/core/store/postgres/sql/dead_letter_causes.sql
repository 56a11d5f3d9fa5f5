-- Count open dead letters that no replay job holds, by mode, reason, channel, provider and age in hours (at most `hours`),
-- among at most `counted` letters; with one detail of each group. Locks nothing. Uses dead_letter_open.
SELECT mode, reason, channel, provider, age, count(*) AS letters, min(created_at) AS oldest, max(created_at) AS newest,
       min(detail) AS detail
FROM (
  SELECT mode, reason, channel, provider, detail, created_at,
         greatest(least(floor(extract(epoch FROM now() - created_at) / 3600), %(hours)s::bigint), 0)::bigint AS age
  FROM notifications_deadletter
  WHERE resolved_at IS NULL AND replay_job_id IS NULL
  LIMIT %(counted)s::bigint
) letters
GROUP BY mode, reason, channel, provider, age
