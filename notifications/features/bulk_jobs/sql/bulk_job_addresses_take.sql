-- Take the addresses of contacts for a bulk job, and return the contacts with an address taken by an earlier contact
-- of the array, or by a committed page. Locks the new rows in the order of the digests, and waits for a page that takes
-- the same address at the same time. Uses the primary keys of bulk_job_address and of notifications_contact.
WITH asked AS (
    SELECT c.id, w.place,
           substring(sha256(convert_to(c.channel || ' ' || suppressible(c.channel, c.address), 'UTF8')) FOR 16) AS digest
    FROM unnest(%(contacts)s::bigint[]) WITH ORDINALITY AS w(id, place)
    JOIN notifications_contact c ON c.id = w.id
), earliest AS (
    SELECT DISTINCT ON (a.digest) a.digest, a.id FROM asked a ORDER BY a.digest, a.place
), taken AS (
    INSERT INTO bulk_job_address (job_id, digest)
    SELECT %(job)s::uuid, e.digest FROM earliest e ORDER BY e.digest
    ON CONFLICT DO NOTHING
    RETURNING digest
)
SELECT a.id FROM asked a
WHERE NOT EXISTS (SELECT FROM earliest e JOIN taken t ON t.digest = e.digest WHERE e.id = a.id AND e.digest = a.digest)
