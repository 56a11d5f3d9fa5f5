-- The rows that a new database begins with. Permissions, role groups, periodic tasks and partitions are made after every `migrate`
-- (notifications/core/apps.py).

-- The shipped retry presets. Operators may change or remove them.
INSERT INTO notifications_retrypreset (name, base_seconds, multiplier, cap_seconds, attempts, jitter, drops) VALUES
    ('critical', 2, 4, 300, 7, 'full', false),
    ('low', 2, 4, 10, 3, 'full', true),
    ('patient', 2, 4, 300, 57, 'second', false),
    ('plain', 1, 2, 3600, 6, 'none', false),
    ('push', 2, 2, 120, 6, 'second', false),
    ('push_spread', 2, 2, 120, 6, 'full', false),
    ('service', 1, 2, 30, 5, 'third', false),
    ('worker', 1, 2, 30, 5, 'double', false);

-- $200,000 a day for the text messages (channel 2) of all producers together.
INSERT INTO budget (producer_id, channel, amount_micros, alert_percent, is_hard, timezone, created_at)
    VALUES (NULL, 2, 200000000000, 80, true, 'UTC', now());

-- The webhooks and the roll-ups read the change feed from here on.
INSERT INTO webhook_position (id, xid, seq)
    VALUES (1, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0);
INSERT INTO rollup_position (id, cluster, xid, series_checked)
    SELECT 1, system_identifier, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0 FROM pg_control_system();
