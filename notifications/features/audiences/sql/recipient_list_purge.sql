-- Delete the first members of a deleted recipient list. Locks the deleted rows. Uses the primary key of
-- recipient_list_member.
DELETE FROM recipient_list_member
WHERE list_id = %(list)s AND recipient_id <= (
    SELECT max(f.recipient_id) FROM (
        SELECT m.recipient_id FROM recipient_list_member m WHERE m.list_id = %(list)s ORDER BY m.recipient_id LIMIT %(limit)s
    ) f
)
