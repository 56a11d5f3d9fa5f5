-- Return the deliveries that the claim still holds, delete their reservations, and return the money that goes back to
-- the ledgers. A delivery of another claim is left out, and the reservation stays with its call. A reservation without
-- an outcome is of a claim that has ended. The commit does not wait for the disk, as the renewal of the lease before
-- the call does. Locks the deliveries in the order of the ids, so that no other claim takes them before the commit,
-- then the reservations. Uses the primary keys.
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), ours AS MATERIALIZED (
    SELECT d.id FROM delivery d, unsynced
    WHERE d.id = ANY(%(ids)s) AND d.claim_token = %(token)s AND d.status = %(sending)s
    ORDER BY d.id
    FOR NO KEY UPDATE OF d
), gone AS (
    DELETE FROM budget_reservation WHERE delivery_id = ANY(ARRAY(SELECT id FROM ours))
    RETURNING delivery_id, ledgers, coalesce(settled_micros, 0) - micros AS change
)
SELECT ours.id, gone.ledgers, gone.change FROM ours LEFT JOIN gone ON gone.delivery_id = ours.id
