-- True if an alert is open, a notice waits, or a destination was told of an alert and not of its end. Of resolved alerts the
-- newest 1,000 count, as in the sweep. Uses one_open_alert, alert_notice_due and the primary key of alerts backwards.
EXISTS (SELECT FROM notifications_alert WHERE resolved_at IS NULL)
OR EXISTS (SELECT FROM alert_notice WHERE due_at IS NOT NULL)
OR EXISTS (
    SELECT FROM (
        SELECT a.id FROM notifications_alert a
        WHERE a.resolved_at IS NOT NULL AND EXISTS (SELECT FROM alert_notice n WHERE n.alert_id = a.id)
        ORDER BY a.id DESC
        LIMIT 1000
    ) told
    JOIN alert_notice n ON n.alert_id = told.id AND n.event IN ('raised', 'reminded') AND n.attempts > 0
    JOIN alert_destination d ON d.id = n.destination_id AND d.is_active
    WHERE NOT EXISTS (
        SELECT FROM alert_notice r
        WHERE r.alert_id = n.alert_id AND r.destination_id = n.destination_id AND r.event = 'resolved'
    )
)
