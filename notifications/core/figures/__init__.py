"""Figures: questions about the roll-ups, and figures for alerts and pages.

    metrics      the metrics: counts, rates and percentiles
    questions    ask(Question) -> Answer
    reach        notifications that reached the recipient on any channel, by priority

The sweep `rollups` keeps the counts (`store.postgres.rollups`, `rules.rollups`); this package only
reads. A question names a metric, up to two dimensions to group by, filters, an interval and a step.
`reach` alone reads notifications, a bounded sample.
"""
