"""URLs: the API at the root, the admin and the documentation beside the API."""

from django.contrib import admin
from django.urls import include, path

from notifyproj import demo_inbox, docs_site
from notifyproj.single_sign_on import views as single_sign_on

admin.autodiscover()

urlpatterns = [
    path("admin/logout/", single_sign_on.SignOut.as_view()),  # before the page of the admin
    path("admin/single-sign-on/", single_sign_on.Start.as_view(), name="oidc_authentication_init"),
    path(
        "admin/single-sign-on/callback/",
        single_sign_on.Callback.as_view(),
        name="oidc_authentication_callback",
    ),
    path("admin/single-sign-on/end/", single_sign_on.end, name="oidc_end"),
    path("admin/", admin.site.urls),
    path("docs", docs_site.front),
    path("docs/<path:path>", docs_site.file, name="docs_site"),
    path("docs/", docs_site.file, {"path": ""}, name="docs_site"),
    *demo_inbox.PATHS,
    path("", include("notifications.api.urls")),
]

handler400 = "notifications.api.problems.bad_request"
handler403 = "notifications.api.problems.forbidden"
handler404 = "notifications.api.problems.not_found"
handler500 = "notifications.api.problems.server_error"
