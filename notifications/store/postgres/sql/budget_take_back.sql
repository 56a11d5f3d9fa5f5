-- Delete the reservations of deliveries whose next call is about to begin and return the money that goes back to the
-- ledgers. A reservation without an outcome is of a claim that has ended. The commit does not wait for the disk, as
-- the renewal of the lease before the call does. Locks the reservations. Uses the primary key.
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), gone AS (
    DELETE FROM budget_reservation WHERE delivery_id = ANY(%(ids)s) RETURNING ledgers, micros, settled_micros
)
SELECT gone.ledgers, coalesce(gone.settled_micros, 0) - gone.micros AS change FROM unsynced LEFT JOIN gone ON true
