"""The URL paths of single sign-on below `/admin/`; the library reads the names of two."""

from __future__ import annotations

from django.urls import path

from notifications.features.single_sign_on import views

urlpatterns = [
    path("single-sign-on/", views.Start.as_view(), name="oidc_authentication_init"),
    path("single-sign-on/callback/", views.Callback.as_view(), name="oidc_authentication_callback"),
    path("single-sign-on/end/", views.end, name="oidc_end"),
]
