"""The URL paths of the API, of the core and of the features, without trailing slashes."""

from __future__ import annotations

from django.urls import path

from notifications.core import feature
from notifications.core.api import (
    alerts,
    attributes,
    batches,
    changes,
    client_receipts,
    contacts,
    dead_letters,
    embed,
    front_page,
    health,
    keys,
    links,
    me,
    metrics,
    notifications,
    one_notification,
    operation,
    preferences,
    problems,
    push,
    receipts,
    recipients,
    schema,
    search,
    signing_secrets,
    suppressions,
    switches,
    templates,
    unsubscribe,
    webhook_endpoints,
)

urlpatterns = [
    # First, because Django tries the patterns in order.
    *operation.routes(notifications, batches),
    path("", front_page.index),
    path("favicon.ico", front_page.icon),
    path("healthz", health.LivenessView.as_view()),
    path("readyz", health.ReadinessView.as_view()),
    path("metrics", metrics.MetricsView.as_view()),
    path("problems/<slug:kind>", problems.page, name="problem"),
    path("l/<slug:token>", links.follow),
    path("o/<str:token>", links.show_pixel),
    path("c/<str:token>", links.follow_tracked),
    path("embed/<slug:version>/<str:name>", embed.file, name="embed"),
    path("v1/schema", schema.SchemaView.as_view(), name="schema"),
    path("v1/docs", schema.docs, name="docs"),
    path("unsubscribe/<str:token>", unsubscribe.page, name="unsubscribe"),
    *operation.routes(
        alerts,
        attributes,
        changes,
        client_receipts,  # before `receipts`, whose path names a provider
        contacts,
        dead_letters,
        keys,
        me,
        one_notification,
        preferences,
        push,
        receipts,
        recipients,
        search,
        signing_secrets,
        suppressions,
        switches,
        templates,
        webhook_endpoints,
    ),
    *(found for each in feature.all_features() for found in each.url_patterns()),
]
