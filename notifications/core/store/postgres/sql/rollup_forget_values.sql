-- Delete up to `limit` values of days before an instant. Skips locked rows. Uses the primary key.
DELETE FROM rollup_value WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM rollup_value WHERE day < (%(before)s::timestamptz AT TIME ZONE 'UTC')::date
    ORDER BY day LIMIT %(limit)s::bigint FOR UPDATE SKIP LOCKED))
