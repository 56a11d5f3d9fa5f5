-- Return the next budget with held deliveries behind an id; null without one. Locks nothing. Uses delivery_budget.
SELECT min(budget_id) AS budget FROM delivery
WHERE reason = 'budget' AND status = %(scheduled)s AND due_at > now() AND budget_id > %(after)s
