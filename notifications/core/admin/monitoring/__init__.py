"""Monitoring: Overview and System, and the parts of pages with plots.

    views            the pages, and the JSON that a page loads every few seconds
    answer           plots, annotations and parts of a JSON answer
    scope            counts, shares and percentiles of the roll-ups over a time range
    plots, tables    plots, tiles and tables from a scope
    group_names      names and pages of the groups of a plot
    links            links to the pages with plots that the feature `analytics` shows
    current          the present: alerts, providers, lanes, waits, dead letters

        page (HTML frame, first parts)  --every 5 s-->  live/...  (JSON, ETag)
                                                          |
                          store.cached.shared_answers: a few seconds per page and range
                                   |                          |
                        roll-up tables (figures)       bounded queries (current)

Scripts and styles are files below `static/notifications/monitoring`, because the pages allow no
inline script; Chart.js comes with unfold. No page reads the partitioned tables beyond a bounded
number of rows. `rules.times.time_range` reads the time range of a URL.
"""
