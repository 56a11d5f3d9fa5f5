"""Where each door is: the API at the root, admin beside it."""

from django.contrib import admin
from django.urls import include, path

admin.autodiscover()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("notifications.api.urls")),
]

handler400 = "notifications.api.problems.bad_request"
handler403 = "notifications.api.problems.forbidden"
handler404 = "notifications.api.problems.not_found"
handler500 = "notifications.api.problems.server_error"
