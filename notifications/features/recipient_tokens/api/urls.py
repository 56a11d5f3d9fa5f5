"""The URL paths of recipient tokens."""

from __future__ import annotations

from django.urls import path

from notifications.features.recipient_tokens.api import client_tokens

urlpatterns = [
    path("v1/recipients/<str:user_id>/client-tokens", client_tokens.ClientTokenListView.as_view()),
]
