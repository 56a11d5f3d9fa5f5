-- Return the bulk jobs, the saved audiences and the snapshots of a mode with a user id in the expression. Locks the bulk
-- jobs against changes. Reads all rows of the three tables, for an erasure.
SELECT id AS bulk_job, NULL::bigint AS audience, NULL::bigint AS snapshot, expression
FROM (
    SELECT id, audience::text AS expression FROM bulk_job
    WHERE mode = %(mode)s
      AND jsonb_path_exists(audience, '$.**.user_ids[*] ? (@ == $user)', jsonb_build_object('user', %(user_id)s::text))
    FOR NO KEY UPDATE
) j
UNION ALL
SELECT NULL, id, NULL, expression::text
FROM audience
WHERE mode = %(mode)s
  AND jsonb_path_exists(expression, '$.**.user_ids[*] ? (@ == $user)', jsonb_build_object('user', %(user_id)s::text))
UNION ALL
SELECT NULL, NULL, id, expression::text
FROM recipient_list
WHERE mode = %(mode)s
  AND jsonb_path_exists(expression, '$.**.user_ids[*] ? (@ == $user)', jsonb_build_object('user', %(user_id)s::text))
