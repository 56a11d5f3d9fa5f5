"""The manifest of single sign-on."""

from notifications.core import feature


class SingleSignOnConfig(feature.Feature):
    """Sign-in of operators by an identity provider: docs/sign-in.md."""

    name = "notifications.features.single_sign_on"
    sign_in_urls = "notifications.features.single_sign_on.urls"
