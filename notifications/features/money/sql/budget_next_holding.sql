-- Return the next budget with held deliveries behind an id; null without one. Locks nothing. Uses delivery_budget of all
-- partitions. The planner takes twice as long for min().
SELECT (
    SELECT budget_id FROM delivery
    WHERE reason = 'budget' AND status = %(scheduled)s AND due_at > now() AND budget_id > %(after)s
    ORDER BY budget_id
    LIMIT 1
) AS budget
