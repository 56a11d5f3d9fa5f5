"""Every path of the API. None ends in a slash."""

from __future__ import annotations

from django.urls import path

from notifications.api import (
    alerts,
    dead_letters,
    front,
    health,
    links,
    me,
    notifications,
    one_notification,
    problems,
    receipts,
    recipients,
    schedules,
    schema,
    search,
    suppressions,
    templates,
    unsubscribe,
)

_RECIPIENT = "v1/recipients/<str:user_id>"
_TEMPLATE = "v1/templates/<slug:template_id>"

urlpatterns = [
    path("", front.index),
    path("favicon.ico", front.icon),
    path("healthz", health.Alive.as_view()),
    path("readyz", health.Ready.as_view()),
    path("metrics", health.Metrics.as_view()),
    path("problems/<slug:kind>", problems.page, name="problem"),
    path("l/<slug:token>", links.follow),
    path("v1/schema", schema.Schema.as_view(), name="schema"),
    path("v1/docs", schema.Docs.as_view(), name="docs"),
    path("v1/me", me.Me.as_view()),
    path("v1/notifications", notifications.Notifications.as_view()),
    path("v1/notifications/batch", notifications.Batch.as_view()),
    path("v1/notifications/<uuid:notification_id>", one_notification.One.as_view()),
    path("v1/notifications/<uuid:notification_id>/cancel", one_notification.Cancel.as_view()),
    path("v1/schedules", schedules.Schedules.as_view()),
    path("v1/schedules/<int:schedule_id>", schedules.OneSchedule.as_view()),
    path("v1/recipients", recipients.Recipients.as_view()),
    path(_RECIPIENT, recipients.One.as_view()),
    path(f"{_RECIPIENT}/contacts", recipients.Contacts.as_view()),
    path(f"{_RECIPIENT}/contacts/<int:contact_id>", recipients.OneContact.as_view()),
    path(f"{_RECIPIENT}/preferences", recipients.Preferences.as_view()),
    path("v1/erasure-jobs/<int:job_id>", recipients.OneErasureJob.as_view()),
    path("v1/suppressions", suppressions.Suppressions.as_view()),
    path("v1/suppressions/<int:suppression_id>", suppressions.One.as_view()),
    path("unsubscribe/<str:token>", unsubscribe.page, name="unsubscribe"),
    path("v1/templates", templates.Templates.as_view()),
    path(_TEMPLATE, templates.One.as_view()),
    path(f"{_TEMPLATE}/versions/<int:version>", templates.OneVersion.as_view()),
    path(f"{_TEMPLATE}/publish", templates.Publish.as_view()),
    path(f"{_TEMPLATE}/rollback", templates.Rollback.as_view()),
    path(f"{_TEMPLATE}/preview", templates.Preview.as_view()),
    path(f"{_TEMPLATE}/diff", templates.Diff.as_view()),
    path("v1/receipts/<slug:provider>", receipts.Receipts.as_view()),
    path("v1/dead-letters", dead_letters.DeadLetters.as_view()),
    path("v1/dead-letters/replay", dead_letters.Replay.as_view()),
    path("v1/dead-letters/<int:letter_id>", dead_letters.OneDeadLetter.as_view()),
    path("v1/dead-letters/<int:letter_id>/discard", dead_letters.Discard.as_view()),
    path("v1/replay-jobs", dead_letters.ReplayJobs.as_view()),
    path("v1/replay-jobs/<int:job_id>", dead_letters.OneReplayJob.as_view()),
    path("v1/alerts", alerts.Alerts.as_view()),
    path("v1/alerts/<int:alert_id>/resolve", alerts.Resolve.as_view()),
    path("v1/search", search.Search.as_view()),
]
