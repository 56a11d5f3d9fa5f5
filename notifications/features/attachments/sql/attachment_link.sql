-- Store that recipients get files, which the transaction has locked (attachment_lock): a single recipient in the row of the file, several
-- in attachment_recipient, and more than `most` nowhere. Parameters: `ids` and `recipients` of equal length. Uses the primary keys.
WITH used AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(recipients)s::bigint[]) AS u(id, recipient_id)
), known AS MATERIALIZED (
    SELECT id, recipient_id FROM used
    UNION SELECT id, recipient_id FROM attachment WHERE id = ANY(%(ids)s) AND recipient_id IS NOT NULL
    UNION SELECT attachment_id, recipient_id FROM attachment_recipient WHERE attachment_id = ANY(%(ids)s)
), counted AS (
    SELECT id, min(recipient_id) AS recipient_id, count(*) AS number FROM known GROUP BY id
), forgotten AS (
    DELETE FROM attachment_recipient r USING counted c WHERE r.attachment_id = c.id AND c.number > %(most)s
), several AS (
    INSERT INTO attachment_recipient (attachment_id, recipient_id)
    SELECT k.id, k.recipient_id FROM known k JOIN counted c USING (id)
    WHERE c.number BETWEEN 2 AND %(most)s
    ON CONFLICT DO NOTHING
)
UPDATE attachment a
SET recipient_id = CASE WHEN c.number = 1 THEN c.recipient_id END, is_shared = c.number > %(most)s, promised_until = NULL
FROM counted c
WHERE a.id = c.id
  AND (a.promised_until IS NOT NULL OR c.number > %(most)s OR (c.number = 1) = (a.recipient_id IS NULL))
