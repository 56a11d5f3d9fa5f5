-- Add the settled prices of reservations to the ledgers and delete the reservations. Without ids: the sweep takes up to
-- `limit` reservations that a killed process left. Locks the reservations, then the ledgers in the order of their ids.
-- The commit does not wait for the disk: a lost one leaves the reservations for the next run.
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), picked AS MATERIALIZED (
    SELECT delivery_id FROM budget_reservation, unsynced
    WHERE settled_micros IS NOT NULL AND (%(ids)s::uuid[] IS NULL OR delivery_id = ANY(%(ids)s))
    ORDER BY delivery_id LIMIT %(limit)s
    FOR UPDATE OF budget_reservation SKIP LOCKED
), gone AS (
    DELETE FROM budget_reservation WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM picked))
    RETURNING ledgers, settled_micros - micros AS change
), change AS MATERIALIZED (
    SELECT ledger, sum(change)::bigint AS change FROM gone CROSS JOIN unnest(ledgers) AS ledger GROUP BY ledger
), locked AS MATERIALIZED (
    SELECT id FROM budget_day WHERE id = ANY(ARRAY(SELECT ledger FROM change)) ORDER BY id FOR UPDATE
), written AS (
    UPDATE budget_day l SET used_micros = l.used_micros + c.change
    FROM change c JOIN locked ON locked.id = c.ledger WHERE l.id = c.ledger
)
SELECT count(*) AS applied FROM picked
