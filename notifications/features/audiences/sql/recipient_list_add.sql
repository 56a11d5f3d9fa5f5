-- Insert members of a recipient list in id order, by user id; return the existing recipients, and which of them are new
-- members. Uses recipient_once_per_mode and the primary key of recipient_list_member.
WITH found AS MATERIALIZED (
    SELECT r.id, r.user_id, nullif(g.variables, '')::jsonb AS variables
    FROM unnest(%(user_ids)s::text[], %(variables)s::text[]) AS g(user_id, variables)
    JOIN notifications_recipient r ON r.mode = %(mode)s AND r.user_id = g.user_id
), added AS (
    INSERT INTO recipient_list_member (list_id, recipient_id, variables)
    SELECT %(list)s, f.id, f.variables FROM found f ORDER BY f.id
    ON CONFLICT DO NOTHING
    RETURNING recipient_id
)
SELECT f.user_id, a.recipient_id IS NOT NULL AS is_new
FROM found f LEFT JOIN added a ON a.recipient_id = f.id
