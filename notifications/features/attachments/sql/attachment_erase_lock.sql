-- Lock the files that the recipients got, in the order of the ids, until the end of the transaction. The caller has locked the recipients,
-- so no new use comes. Uses the index of recipient_id and attachment_of_recipient.
SELECT a.id FROM attachment a
WHERE a.id IN (
    SELECT id FROM attachment WHERE recipient_id = ANY(%(recipients)s)
    UNION SELECT attachment_id FROM attachment_recipient WHERE recipient_id = ANY(%(recipients)s)
)
ORDER BY a.id
FOR UPDATE
