"""The manifest of recipient tokens."""

from notifications.core import feature


class RecipientTokensConfig(feature.Feature):
    """Tokens for apps and browsers of recipients: docs/recipient-tokens.md."""

    name = "notifications.features.recipient_tokens"
    urls = "notifications.features.recipient_tokens.api.urls"
    openapi = "notifications.features.recipient_tokens.api"
    accepts_tokens = True
    menu = (
        feature.MenuEntry(
            "Settings", "Token secrets", symbol="vpn_key", model="tokensecret", is_folded=True
        ),
    )
