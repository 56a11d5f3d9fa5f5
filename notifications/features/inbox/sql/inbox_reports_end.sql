-- Delete reports, except reports that came again since the claim. Locks the deleted rows. Uses the primary key.
DELETE FROM inbox_report r
USING unnest(%(items)s::uuid[], %(due)s::timestamptz[]) AS done(item_id, due_at)
WHERE r.item_id = done.item_id AND r.due_at = done.due_at
