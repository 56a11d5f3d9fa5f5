"""URLs: the API at the root, the admin and the documentation beside the API."""

from django.contrib import admin
from django.urls import include, path

from notifications.core import feature
from notifyproj import demo_inbox, docs_site, sign_in

admin.autodiscover()

urlpatterns = [
    path("admin/logout/", sign_in.SignOut.as_view()),  # before the page of the admin
    *(
        path("admin/", include(app.sign_in_urls))
        for app in feature.all_features()
        if app.sign_in_urls
    ),
    path("admin/", admin.site.urls),
    path("docs", docs_site.front),
    path("docs/<path:path>", docs_site.file, name="docs_site"),
    path("docs/", docs_site.file, {"path": ""}, name="docs_site"),
    *demo_inbox.PATHS,
    path("", include("notifications.core.api.urls")),
]

handler400 = "notifications.core.api.problems.bad_request"
handler403 = "notifications.core.api.problems.forbidden"
handler404 = "notifications.core.api.problems.not_found"
handler500 = "notifications.core.api.problems.server_error"
