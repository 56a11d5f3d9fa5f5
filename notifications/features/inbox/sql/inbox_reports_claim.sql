-- Take up to `limit` due reports, of one recipient or of all: the due time moves by the lease. Skips locked rows. Uses
-- inbox_report_due or inbox_report_recipient. The caller reads the items in a statement of its own: a mark that commits while this
-- statement runs has changed the report that is taken, but its item is not in the snapshot of this statement.
WITH due AS MATERIALIZED (
    SELECT item_id FROM inbox_report
    WHERE due_at <= %(now)s::timestamptz AND (%(recipient)s::bigint IS NULL OR recipient_id = %(recipient)s::bigint)
    ORDER BY due_at
    LIMIT %(limit)s::bigint
    FOR UPDATE SKIP LOCKED
)
UPDATE inbox_report r SET due_at = %(now)s::timestamptz + %(lease)s::interval
WHERE r.item_id = ANY (ARRAY(SELECT item_id FROM due))
RETURNING r.item_id, r.recipient_id, r.due_at
