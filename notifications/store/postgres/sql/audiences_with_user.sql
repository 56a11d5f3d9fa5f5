-- Return the bulk jobs and the saved audiences of a mode whose expression names a user id. Locks the bulk jobs against
-- changes. Reads all rows of both tables, for an erasure.
SELECT id AS bulk_job, NULL::bigint AS audience, expression
FROM (
    SELECT id, audience::text AS expression FROM bulk_job
    WHERE mode = %(mode)s
      AND jsonb_path_exists(audience, '$.**.user_ids[*] ? (@ == $user)', jsonb_build_object('user', %(user_id)s::text))
    FOR NO KEY UPDATE
) j
UNION ALL
SELECT NULL, id, expression::text
FROM audience
WHERE mode = %(mode)s
  AND jsonb_path_exists(expression, '$.**.user_ids[*] ? (@ == $user)', jsonb_build_object('user', %(user_id)s::text))
