-- Take up to `limit` due notices of active destinations for a try: a lease, a token and the count of the try. A notice waits
-- while an earlier notice of the same alert and destination is not final, so that `resolved` never overtakes `raised`.
-- Locks the notices in the order of the ids and skips locked ones. Uses alert_notice_due and one_alert_notice.
WITH due AS MATERIALIZED (
    SELECT n.id FROM alert_notice n
    JOIN alert_destination d ON d.id = n.destination_id AND d.is_active
    WHERE n.due_at <= %(now)s
      AND NOT EXISTS (
          SELECT FROM alert_notice e
          WHERE e.alert_id = n.alert_id AND e.destination_id = n.destination_id AND e.due_at IS NOT NULL AND e.id < n.id)
    ORDER BY n.id
    LIMIT %(limit)s::bigint
    FOR UPDATE OF n SKIP LOCKED
)
UPDATE alert_notice
SET claim_token = %(token)s::uuid, due_at = %(now)s + %(lease)s::interval, attempts = attempts + 1
WHERE id = ANY (ARRAY(SELECT id FROM due))
RETURNING id
