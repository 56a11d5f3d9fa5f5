-- Return the identity of the database cluster, the oldest open transaction (every older transaction has ended), the
-- next transaction, and with `since` the transaction of the last mark before that instant. Locks nothing. Uses the
-- primary key of change_mark.
SELECT (SELECT system_identifier FROM pg_control_system()) AS cluster,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS open_from,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next,
       (SELECT m.xid FROM change_mark m WHERE m.at <= %(since)s::timestamptz ORDER BY m.at DESC LIMIT 1) AS marked
