"""Analytics: figures over time for producers and owners of products.

    api            `GET /v1/analytics`: a producer's question about figures
    admin          Insights, and a page of plots for each provider, template, producer and type
    daily_report   the figures of a day
    management     the command `report`, which prints the figures of a day
    sweep          the report of yesterday by e-mail

The core keeps the roll-ups (`sweeps.change_feed`) and answers the questions (`figures`), because
Overview, the alerts, the costs and the budgets read them too.
"""
