-- True if a budget has a ledger of a day that can be today in its zone, a reservation is left, the price of a receipt is due,
-- an alert about a budget is open, or a budget holds a delivery. Uses the unique index of the ledgers, receipt_price_due,
-- one_open_alert and delivery_budget of all partitions, for which the planner takes twice as long with min().
EXISTS (
    SELECT FROM budget b
    JOIN budget_day d ON d.budget_id = b.id AND d.day >= (now() AT TIME ZONE 'UTC')::date - 1
)
OR EXISTS (SELECT FROM budget_reservation)
OR EXISTS (SELECT FROM receipt_price WHERE due_at <= now())
OR EXISTS (
    SELECT FROM notifications_alert WHERE kind IN ('budget_nearly_spent', 'budget_spent') AND resolved_at IS NULL
)
OR (
    SELECT budget_id FROM delivery WHERE reason = 'budget' AND status = 1 AND due_at > now() ORDER BY budget_id LIMIT 1
) IS NOT NULL
