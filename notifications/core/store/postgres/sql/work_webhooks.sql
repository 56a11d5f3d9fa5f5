-- True if an endpoint can get messages, if an endpoint has a replay, or if events of recent days are behind the position,
-- which follows the feed without an endpoint. Uses webhook_endpoint and event_of_transaction of the recent partitions.
EXISTS (SELECT FROM webhook_endpoint WHERE state IN ('active', 'paused') OR replay_since IS NOT NULL)
OR NOT EXISTS (SELECT FROM webhook_position)
OR EXISTS (
    SELECT FROM webhook_position p
    JOIN event e ON e.xid >= p.xid
    WHERE e.notification_id >= %(floor)s::uuid AND e.notification_id < %(ceiling)s::uuid
)
