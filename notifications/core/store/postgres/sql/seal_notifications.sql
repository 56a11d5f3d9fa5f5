-- Remove the variables in `names` from notifications and store the encrypted variables in `sealed`. The caller has
-- locked the rows. Uses the primary key.
UPDATE notification n SET variables = n.variables - %(names)s::text[], secrets = w.sealed
FROM unnest(%(ids)s::uuid[], %(sealed)s::bytea[]) AS w(id, sealed)
WHERE n.id = w.id AND n.id = ANY(%(ids)s)
