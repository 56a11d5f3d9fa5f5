-- True if an endpoint can get messages, if an endpoint has a replay, or if events of recent days are behind the position,
-- which follows the feed without an endpoint. Uses webhook_endpoint, and merges event_of_transaction of the recent
-- partitions: the planner expects many such events, so without ORDER BY a sequential scan reads all if there is none.
EXISTS (SELECT FROM webhook_endpoint WHERE state IN ('active', 'paused') OR replay_since IS NOT NULL)
OR NOT EXISTS (SELECT FROM webhook_position)
OR (
    SELECT xid FROM event
    WHERE xid >= (SELECT min(xid) FROM webhook_position)
      AND notification_id >= %(floor)s::uuid AND notification_id < %(ceiling)s::uuid
    ORDER BY xid
    LIMIT 1
) IS NOT NULL
