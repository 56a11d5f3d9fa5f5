-- Add differences to the ledgers of budgets and days; a removed budget has no ledger. Locks the ledgers in the order of
-- their ids. Uses one_ledger_a_day.
WITH locked AS MATERIALIZED (
    SELECT l.id, w.micros
    FROM unnest(%(budget)s::bigint[], %(day)s::date[], %(micros)s::bigint[]) AS w(budget, day, micros)
    JOIN budget_day l ON l.budget_id = w.budget AND l.day = w.day
    ORDER BY l.id
    FOR UPDATE OF l
)
UPDATE budget_day l SET used_micros = l.used_micros + locked.micros FROM locked WHERE l.id = locked.id
