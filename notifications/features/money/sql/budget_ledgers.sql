-- Lock the ledgers of budgets and days, and further ledgers by id, in the order of the ids. The caller commits within
-- milliseconds. Uses one_ledger_a_day and the primary key.
SELECT l.id, l.budget_id, l.used_micros AS used, b.amount_micros AS amount, b.is_hard, l.refused_micros AS refused,
       (l.budget_id, l.day) IN (SELECT * FROM unnest(%(budgets)s::bigint[], %(days)s::date[])) AS is_current
FROM budget_day l
JOIN budget b ON b.id = l.budget_id
WHERE l.id = ANY(%(ledgers)s)
   OR (l.budget_id, l.day) IN (SELECT * FROM unnest(%(budgets)s::bigint[], %(days)s::date[]))
ORDER BY l.id
FOR UPDATE OF l
