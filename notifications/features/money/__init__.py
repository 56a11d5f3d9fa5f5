"""Money: budgets of a day, costs settled by receipts, and the report of the costs of a month.

    reservations    holds deliveries of a spent budget; reserves and settles the prices of calls
    by_email        sends a P3 text message without money by e-mail
    ledgers         the ledgers and the reservations in Postgres (sql/)
    known           the budgets with their ledgers, read once a second
    receipt_prices  costs settled by the prices of receipts
    figures         money of the day and forecast of the month for each budget
    cost_report     costs of a month by producer, country, channel, provider or bulk job
    sweep           lost reservations, settled costs, alerts, the release of held deliveries

The core keeps the price list and the cost of each call.
"""
