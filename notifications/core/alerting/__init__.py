"""Alerts leave the installation: notices to mail, Slack, PagerDuty and webhooks.

    alerts ─ rules.alert_notices ─> rows ─ claim ─> providers.alert_destinations ─> settle

    destinations   rows of operators and of NOTIFY_ALERT_URLS; encrypted URLs
    notices        make, claim, send and settle notices

The rows are an outbox: a notice is sent at least once, also after a kill between claim and settle,
and two processes do not send one notice together. No lane, template or recipient takes part, so
that alerts leave while the delivery of messages is ill. Without Postgres no alert leaves: a probe
of `/readyz` from outside detects that case. Without beat the web process sends (`sweeps.overdue`).

A failing destination raises an alert, which is not sent to the destination itself. Each notice ends
after 24 hours of tries, so that two failing destinations do not alert about each other for ever.
"""
