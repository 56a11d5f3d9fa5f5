-- Add the ledgers of budgets and days that do not exist. A budget of the same day begins with the cost of its day so
-- far by the roll-ups of the hours (cubes of ALL), since the calls before it had no ledger. A removed budget gets no
-- ledger. Python computes the starts of the days, since Postgres may lack the timezone. Locks the budgets against
-- removal.
INSERT INTO budget_day (budget_id, day, used_micros)
SELECT b.id, w.day,
       CASE WHEN b.created_at < w.starts_at THEN 0 ELSE coalesce((
           SELECT sum(r.cost_micros) FROM rollup r JOIN rollup_series s ON s.id = r.series
           WHERE r.cube = %(cube)s AND r.bucket >= w.starts_at
             AND s.mode = %(live)s AND s.reason = ''
             AND (b.producer_id IS NULL OR s.producer_id = b.producer_id)
             AND (b.channel IS NULL OR s.channel = b.channel)), 0) END
FROM unnest(%(budgets)s::bigint[], %(days)s::date[], %(starts)s::timestamptz[]) AS w(budget_id, day, starts_at)
JOIN budget b ON b.id = w.budget_id
ORDER BY b.id
FOR KEY SHARE OF b
ON CONFLICT DO NOTHING
