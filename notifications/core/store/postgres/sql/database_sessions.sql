-- Count the sessions of the database by state, with the limit of the server. Locks nothing; reads no table. A role
-- sees the state of its own sessions only: sessions of other roles have the state 'other'.
SELECT coalesce(state, 'other') AS state, count(*) AS sessions, current_setting('max_connections')::int AS most
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'
GROUP BY 1
