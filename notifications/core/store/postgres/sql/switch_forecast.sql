-- Return the open deliveries of each lane and status that match a switch. Examines at most `counted` rows of each.
-- Locks nothing. Uses delivery_due and the primary key of the notifications.
SELECT lane.priority, counted.examined, counted.matching
FROM unnest(%(priorities)s::smallint[], %(channels)s::smallint[]) AS lane(priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted(status)
CROSS JOIN LATERAL (
    SELECT count(*) AS examined,
           count(*) FILTER (WHERE (%(producer)s::bigint IS NULL OR n.producer_id = %(producer)s)
                              AND (%(type)s::text IS NULL OR n.type = %(type)s)
                              AND (%(versions)s::bigint[] IS NULL OR n.template = ANY(%(versions)s))) AS matching
    FROM (
        SELECT d.id FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = wanted.status AND d.mode = %(live)s AND d.priority = lane.priority
          AND d.channel = lane.channel AND d.due_at <= now() + CASE WHEN wanted.status = 1 THEN %(soon)s::interval
                                                                    ELSE interval '100 days' END
        ORDER BY d.due_at
        LIMIT %(counted)s
    ) d
    JOIN notification n ON n.id = notification_of(d.id) AND n.id >= %(floor)s::uuid AND n.id < %(ceiling)s::uuid
) counted
