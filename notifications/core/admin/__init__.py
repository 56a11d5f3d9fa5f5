"""The admin site for operators.

    dashboard, monitoring        Overview and the other pages with plots
    activity, palette            one list of all messages; the search box
    deliveries                   search; a page with all details of a notification
    message_page, _actions, _files, _scale   that page: its parts, buttons, downloads and drawing
    addresses                    masked addresses
    dead_letters, replays        groups by cause; filter, inspect, replay or discard; stop
    workers                      work of each lane, deliveries behind a hold
    breakers                     circuit breakers and rate limits of providers
    producers, recipients        producers with API keys, recipients with contacts
    token_secrets                secrets with which producers sign recipient tokens
    recipient_page               contacts of a recipient, latest notifications, obstacles now
    suppressions                 suppression list with import and export
    prices                       prices of provider calls
    names                        existing names, for lists and completion in forms
    preview_panel                preview of a text of a template
    model_pages                  addresses of pages of models that features show
    attributes                   definitions of attributes
    retry_presets                retry policies with timetables
    provider_routes              routing of channels to providers
    ordering_keys                ordering keys with the deliveries that wait
    periodic_tasks               beat's tasks: interval, on or off, last run and result
    switches, switch_form        kill switches: set with a reason, what waits, resume
    webhooks                     webhook endpoints of producers, and their calls
    alerts, alert_destinations   open alerts, and the places outside that learn of alerts
    notification_types           types, and names of categories and types for recipients
    housekeeping                 rejected requests, sweep runs, releases of this service
    exports                      lists as CSV files
    erasures                     erasures with receipts
    audited, audit_log           audit of all changes
    site_urls                    addresses of pages without a model
    second_factor, users         sign-in, operators' accounts, sessions and roles

No page counts or scans a partitioned table: lists are bounded to recent days, and searches use an
index. The admin changes the status of a delivery only with `operations.replay` and
`scheduling.cancel`. Addresses are masked; an operator with the right opens one address, which is
audited (`addresses`). A sensitive variable is never shown. An operator with view permission only
cannot change anything. New pages inherit these rules from `base`.
"""

from notifications.core.admin import (
    alert_destinations,
    alerts,
    attributes,
    audit_log,
    breakers,
    dead_letters,
    deliveries,
    erasures,
    exports,
    housekeeping,
    notification_types,
    ordering_keys,
    periodic_tasks,
    prices,
    producers,
    provider_routes,
    recipients,
    replays,
    retry_presets,
    second_factor,
    short_links,
    site_urls,
    suppressions,
    switches,
    users,
    webhooks,
)

__all__ = [
    "alert_destinations",
    "alerts",
    "attributes",
    "audit_log",
    "breakers",
    "dead_letters",
    "deliveries",
    "erasures",
    "exports",
    "housekeeping",
    "notification_types",
    "ordering_keys",
    "periodic_tasks",
    "prices",
    "producers",
    "provider_routes",
    "recipients",
    "replays",
    "retry_presets",
    "second_factor",
    "short_links",
    "site_urls",
    "suppressions",
    "switches",
    "users",
    "webhooks",
]
