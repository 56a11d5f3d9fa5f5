-- Queue dead deliveries again with a new attempt budget, the contact that is valid now and, where `raises` is 1, a
-- new idempotency key for the provider. Parameters: arrays of equal length. Locks in the order of the ids. Uses the
-- primary key.
WITH wanted AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(contacts)s::bigint[], %(raises)s::smallint[],
                         %(due_in)s::interval[])
        AS w(id, contact_id, raises, due_in)
), picked AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY(%(ids)s) AND d.status = ANY(%(sources)s)
    ORDER BY d.id
    FOR UPDATE
), moved AS (
    UPDATE delivery d
    SET status = %(queued)s, due_at = now() + w.due_in, reason = 'replayed', contact_id = w.contact_id,
        generation = d.generation + w.raises, attempts_before = d.attempts, resent = false,
        claims = 0, claim_token = NULL, publishes = 0, published_at = NULL, call_started_at = NULL
    FROM picked p JOIN wanted w USING (id)
    WHERE d.id = p.id
    RETURNING d.id
), logged AS (
    INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)
    SELECT notification_of(id), id, %(queued)s, 'replayed', %(detail)s, now() FROM moved
)
SELECT id FROM moved
