"""The operators' door: who looks here at 3 a.m. finds a message, and brings it back.

    dashboard                    what is wrong now
    notifications, deliveries    find one; everything of it on one page
    dead_letters, replays        filter, look, replay or discard: one, some, or all that match
    templates                    versions: drafted, published, rolled back, as files
    template_editor, _compare    writing beside the screen that it will appear on; what changed
    breakers, provider_rates     which providers rest; opened and closed by hand; how fast they go
    producers, recipients        who asks, who is reached; keys are shown once
    recipient_page               what support is asked: what waits, and why
    suppressions                 which addresses are not used, and why; files in and out
    retry_presets                how failed calls are tried again, with each timetable
    provider_routes              which provider takes what, in force within two seconds
    schedules                    what recurs, paused by hand; who stands in which line
    periodic_tasks               what beat sends: interval, on or off, last run and result
    notification_types, alerts, housekeeping
    audited, audit_log           each change is logged; the log
    second_factor, sessions, users   who gets in, and what they may do

Promises: no page counts or scans a partitioned table (lists are bounded to recent days, searches go
by index); nothing here writes a delivery's status but through `operations.replay`; an address is
shown on the own page of its contact or suppression alone, a sensitive variable nowhere; who may
only view can change nothing. A new page keeps them by building on `base`.
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
]
