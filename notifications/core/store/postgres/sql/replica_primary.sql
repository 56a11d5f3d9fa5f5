-- Return the identity of the primary, the timeline, the WAL position on disk, and the time. Locks nothing.
SELECT (SELECT system_identifier FROM pg_control_system()) AS cluster,
       (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database,
       ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::bigint AS timeline,
       pg_current_wal_flush_lsn()::text AS flushed,
       clock_timestamp() AS at
