"""The URL paths of the API, without trailing slashes."""

from __future__ import annotations

from django.urls import path

from notifications.api import (
    alerts,
    client_receipts,
    changes,
    dead_letters,
    front_page,
    health,
    keys,
    links,
    me,
    metrics,
    notifications,
    one_notification,
    preferences,
    problems,
    receipts,
    recipients,
    schedules,
    schema,
    search,
    signing_secrets,
    suppressions,
    templates,
    unsubscribe,
)

_RECIPIENT = "v1/recipients/<str:user_id>"
_SECRETS = f"{_RECIPIENT}/contacts/<int:contact_id>/signing-secrets"
_TEMPLATE = "v1/templates/<slug:template_id>"

urlpatterns = [
    path("", front_page.index),
    path("favicon.ico", front_page.icon),
    path("healthz", health.LivenessView.as_view()),
    path("readyz", health.ReadinessView.as_view()),
    path("metrics", metrics.MetricsView.as_view()),
    path("problems/<slug:kind>", problems.page, name="problem"),
    path("l/<slug:token>", links.follow),
    path("o/<str:token>", links.show_pixel),
    path("c/<str:token>", links.follow_tracked),
    path("v1/schema", schema.SchemaView.as_view(), name="schema"),
    path("v1/docs", schema.docs, name="docs"),
    path("v1/me", me.MeView.as_view()),
    path("v1/notifications", notifications.NotificationListView.as_view()),
    path("v1/notifications/batch", notifications.NotificationBatchView.as_view()),
    path("v1/notifications/changes", changes.StatusChangeListView.as_view()),
    path(
        "v1/notifications/<uuid:notification_id>", one_notification.NotificationDetailView.as_view()
    ),
    path(
        "v1/notifications/<uuid:notification_id>/cancel",
        one_notification.NotificationCancelView.as_view(),
    ),
    path("v1/schedules", schedules.ScheduleListView.as_view()),
    path("v1/schedules/<int:schedule_id>", schedules.ScheduleDetailView.as_view()),
    path("v1/recipients", recipients.RecipientListView.as_view()),
    path(_RECIPIENT, recipients.RecipientDetailView.as_view()),
    path(f"{_RECIPIENT}/contacts", recipients.ContactListView.as_view()),
    path(f"{_RECIPIENT}/contacts/<int:contact_id>", recipients.ContactDetailView.as_view()),
    path(_SECRETS, signing_secrets.SigningSecretListView.as_view()),
    path(f"{_SECRETS}/rotate", signing_secrets.SigningSecretRotateView.as_view()),
    path(f"{_RECIPIENT}/client-tokens", client_receipts.ClientTokenListView.as_view()),
    path(f"{_RECIPIENT}/changes", recipients.RecipientChangeListView.as_view()),
    path(f"{_RECIPIENT}/preferences", preferences.PreferencesView.as_view()),
    path("v1/erasure-jobs/<int:job_id>", recipients.ErasureJobDetailView.as_view()),
    path("v1/suppressions", suppressions.SuppressionListView.as_view()),
    path("v1/suppressions/<int:suppression_id>", suppressions.SuppressionDetailView.as_view()),
    path("unsubscribe/<str:token>", unsubscribe.page, name="unsubscribe"),
    path("v1/templates", templates.TemplateListView.as_view()),
    path(_TEMPLATE, templates.TemplateDetailView.as_view()),
    path(f"{_TEMPLATE}/versions/<int:version>", templates.TemplateVersionView.as_view()),
    path(f"{_TEMPLATE}/publish", templates.TemplatePublishView.as_view()),
    path(f"{_TEMPLATE}/rollback", templates.TemplateRollbackView.as_view()),
    path(f"{_TEMPLATE}/preview", templates.TemplatePreviewView.as_view()),
    path(f"{_TEMPLATE}/diff", templates.TemplateDiffView.as_view()),
    path("v1/receipts/client", client_receipts.ClientReceiptView.as_view()),
    path("v1/receipts/<slug:provider>", receipts.ReceiptView.as_view()),
    path("v1/dead-letters", dead_letters.DeadLetterListView.as_view()),
    path("v1/dead-letters/replay", dead_letters.DeadLetterReplayView.as_view()),
    path("v1/dead-letters/<int:letter_id>", dead_letters.DeadLetterDetailView.as_view()),
    path("v1/dead-letters/<int:letter_id>/discard", dead_letters.DeadLetterDiscardView.as_view()),
    path("v1/replay-jobs", dead_letters.ReplayJobListView.as_view()),
    path("v1/replay-jobs/<int:job_id>", dead_letters.ReplayJobDetailView.as_view()),
    path("v1/alerts", alerts.AlertListView.as_view()),
    path("v1/alerts/<int:alert_id>/resolve", alerts.AlertResolveView.as_view()),
    path("v1/keys/rotate", keys.KeyRotateView.as_view()),
    path("v1/search", search.SearchView.as_view()),
]
