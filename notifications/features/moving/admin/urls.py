"""The URL of the import of recipients."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from notifications.features.moving.admin import recipient_import

urlpatterns = [
    path(
        "recipient-import/",
        admin.site.admin_view(recipient_import.show),
        name="moving_recipients",
    ),
]
