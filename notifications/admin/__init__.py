"""The admin site for operators.

    dashboard                    overview of current problems
    notifications, deliveries    search; a page with all details of a notification
    dead_letters, replays        filter, inspect, replay or discard
    templates                    versions: draft, publish, roll back, import and export
    template_editor, _compare    editor with preview; differences between versions
    breakers, provider_rates     circuit breakers and rate limits of providers
    producers, recipients        producers with API keys, recipients with contacts
    recipient_page               a recipient's contacts and latest notifications, for support
    suppressions                 suppression list with import and export
    retry_presets                retry policies with timetables
    provider_routes              routing of channels to providers
    schedules                    recurring notifications and ordering keys
    periodic_tasks               beat's tasks: interval, on or off, last run and result
    webhooks                     webhook endpoints of producers, and their calls
    notification_types, alerts, housekeeping
    audited, audit_log           audit of all changes
    second_factor, sessions, users   sign-in, operators' accounts and roles

No page counts or scans a partitioned table: lists are bounded to recent days, and searches use an
index. The admin changes the status of a delivery only with `operations.replay`. An address is shown
only on the page of the contact or suppression; a sensitive variable is never shown. An operator
with view permission only cannot change anything. New pages inherit these rules from `base`.
"""

from notifications.admin import (
    alerts,
    audit_log,
    breakers,
    dead_letters,
    deliveries,
    housekeeping,
    notification_types,
    notifications,
    periodic_tasks,
    producers,
    provider_rates,
    provider_routes,
    recipients,
    replays,
    retry_presets,
    schedules,
    second_factor,
    sessions,
    short_links,
    suppressions,
    templates,
    users,
    webhooks,
)

__all__ = [
    "alerts",
    "audit_log",
    "breakers",
    "dead_letters",
    "deliveries",
    "housekeeping",
    "notification_types",
    "notifications",
    "periodic_tasks",
    "producers",
    "provider_rates",
    "provider_routes",
    "recipients",
    "replays",
    "retry_presets",
    "schedules",
    "second_factor",
    "sessions",
    "short_links",
    "suppressions",
    "templates",
    "users",
    "webhooks",
]
