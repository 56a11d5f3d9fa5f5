-- Compare a replica with its primary (replica_primary.sql). Locks nothing.
--
-- A replica is behind without some WAL of the primary and without a commit younger than the limit. After a promotion of another
-- server, WAL positions of the old timeline say nothing about rows of the new one; a replica records its timeline with a
-- restart point or with the next write of a data page.
SELECT NOT pg_is_in_recovery() AS is_primary,
       (SELECT system_identifier FROM pg_control_system()) <> %(cluster)s AS has_other_cluster,
       (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) <> %(database)s AS has_other_database,
       greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                (SELECT min_recovery_end_timeline FROM pg_control_recovery())) <> %(timeline)s AS has_other_timeline,
       CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END AS is_paused,
       (pg_last_wal_replay_lsn() >= %(flushed)s::pg_lsn
        OR pg_last_xact_replay_timestamp() >= %(at)s::timestamptz - %(most_lag)s::interval) IS NOT TRUE AS is_behind
