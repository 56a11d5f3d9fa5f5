"""Figures: questions about the roll-ups, and figures for alerts, budgets and pages.

    metrics      the metrics: counts, rates and percentiles
    questions    ask(Question) -> Answer
    costs        costs of a month by producer, country, bulk job ..., with a forecast
    budget_figures   money of the day and forecast of the month for each budget
    reach        notifications that reached the recipient on any channel, by priority

The sweep `rollups` keeps the counts (`store.postgres.rollups`, `rules.rollups`); this package only
reads. A question names a metric, up to two dimensions to group by, filters, an interval and a step.
`reach` alone reads notifications, a bounded sample.
"""
