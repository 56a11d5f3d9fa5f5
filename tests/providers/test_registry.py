"""Settings: what is read, and what a person sees when they are wrong."""

from __future__ import annotations

import pytest

from providers import registry
from providers.errors import ConfigurationError
from providers.sms.gateways import vendors as gateways
from tests.providers.messages import SECRET

SANDBOX = {"NOTIFY_SANDBOX_URL": "http://127.0.0.1:8025/", "NOTIFY_SANDBOX_SECRET": SECRET}
SMTP = {
    "NOTIFY_SMTP_URL": "smtp://u:p%40ss@mail.example",
    "NOTIFY_SMTP_FROM": "Shop <no-reply@shop.example>",
}
WEBHOOK = {"NOTIFY_WEBHOOK_SECRETS": SECRET}


def test_only_vendors_with_settings_are_built() -> None:
    assert registry.build_all({}) == {}
    assert set(registry.build_all(SANDBOX)) == {"sandbox"}
    assert set(registry.build_all(SANDBOX | SMTP | WEBHOOK)) == {"sandbox", "smtp", "webhook"}


def aws(vendor: str, *own: str) -> set[str]:
    account = ("REGION", "ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "CODES")
    return {f"NOTIFY_{vendor}_{name}" for name in (*account, *own)}


def of_gateways() -> frozenset[str]:
    names = {file.stem for file in gateways.PRESETS.glob("*.toml")}
    found = (vendor.settings for vendor in registry.VENDORS if vendor.name in names)
    return frozenset[str]().union(*found)


def test_every_setting_is_known_by_name() -> None:
    assert {"NOTIFY_SINCH_API_TOKEN", "NOTIFY_SINCH_FROM"} <= of_gateways()
    assert registry.settings_names() - of_gateways() == {
        "NOTIFY_APNS_KEY", "NOTIFY_APNS_KEY_ID", "NOTIFY_APNS_TEAM_ID", "NOTIFY_APNS_TOPIC",
        "NOTIFY_APNS_URL", "NOTIFY_APNS_CODES",
        "NOTIFY_EXPO_ACCESS_TOKEN", "NOTIFY_EXPO_URL", "NOTIFY_EXPO_CODES",
            "NOTIFY_EXPO_PER_SECOND",
        "NOTIFY_FCM_CREDENTIALS", "NOTIFY_FCM_URL", "NOTIFY_FCM_CODES",
        "NOTIFY_SANDBOX_URL", "NOTIFY_SANDBOX_SECRET", "NOTIFY_SANDBOX_DEDUP",
        "NOTIFY_SMTP_URL", "NOTIFY_SMTP_FROM", "NOTIFY_SMTP_CONNECTIONS",
            "NOTIFY_SMTP_PER_SECOND",
        "NOTIFY_APPRISE_SCHEMES", "NOTIFY_APPRISE_FROM", "NOTIFY_APPRISE_ALLOW_PRIVATE",
        "NOTIFY_APPRISE_ENDPOINTS", "NOTIFY_APPRISE_CODES", "NOTIFY_APPRISE_PER_SECOND",
        "NOTIFY_TWILIO_ACCOUNT_SID", "NOTIFY_TWILIO_AUTH_TOKEN", "NOTIFY_TWILIO_API_KEY",
        "NOTIFY_TWILIO_FROM", "NOTIFY_TWILIO_SHARED_KEYS", "NOTIFY_TWILIO_PER_SECOND",
        "NOTIFY_TWILIO_URL", "NOTIFY_TWILIO_CODES", "NOTIFY_TWILIO_WHATSAPP_FROM",
        "NOTIFY_VONAGE_API_KEY", "NOTIFY_VONAGE_API_SECRET", "NOTIFY_VONAGE_SIGNATURE_SECRET",
        "NOTIFY_VONAGE_SIGNATURE_METHOD", "NOTIFY_VONAGE_FROM", "NOTIFY_VONAGE_PER_SECOND",
        "NOTIFY_VONAGE_URL", "NOTIFY_VONAGE_CODES",
        "NOTIFY_WHATSAPP_PHONE_NUMBER_ID", "NOTIFY_WHATSAPP_ACCESS_TOKEN",
            "NOTIFY_WHATSAPP_APP_SECRET", "NOTIFY_WHATSAPP_VERIFY_TOKEN",
            "NOTIFY_WHATSAPP_PER_SECOND", "NOTIFY_WHATSAPP_URL", "NOTIFY_WHATSAPP_CODES",
        "NOTIFY_WEBHOOK_SECRETS", "NOTIFY_WEBHOOK_ALLOW_PRIVATE",
            "NOTIFY_WEBHOOK_PER_SECOND",
        *aws("SES", "FROM", "CONFIGURATION_SET", "TOPICS", "BULK", "PER_SECOND", "ALLOW_SHA1"),
        *aws("AWS_SNS", "SENDER_ID", "TRAFFIC", "MAX_PRICE", "PER_SECOND"),
        *aws("AWS_EUM", "ORIGINATION", "CONFIGURATION_SET", "TOPICS", "TRAFFIC", "MAX_PRICE",
                 "PER_SECOND", "ALLOW_SHA1"),
        "NOTIFY_ANYMAIL_ESP", "NOTIFY_ANYMAIL_OPTIONS", "NOTIFY_ANYMAIL_FROM",
        "NOTIFY_ANYMAIL_WEBHOOK_SECRET", "NOTIFY_ANYMAIL_CODES", "NOTIFY_ANYMAIL_PER_SECOND",
        "NOTIFY_WEB_PUSH_PRIVATE_KEY", "NOTIFY_WEB_PUSH_SUBJECT", "NOTIFY_WEB_PUSH_SERVICES",
        "NOTIFY_WEB_PUSH_ALLOW_PRIVATE", "NOTIFY_WEB_PUSH_CODES", "NOTIFY_WEB_PUSH_PER_SECOND",
            "NOTIFY_APNS_PER_SECOND", "NOTIFY_FCM_PER_SECOND",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        (SANDBOX | {"NOTIFY_SANDBOX_SECRET": ""}, "NOTIFY_SANDBOX_SECRET"),
        (SANDBOX | {"NOTIFY_SANDBOX_URL": "hunter2"}, "NOTIFY_SANDBOX_URL"),
        (SANDBOX | {"NOTIFY_SANDBOX_URL": "http://[hunter2"}, "NOTIFY_SANDBOX_URL"),
        (SANDBOX | {"NOTIFY_SANDBOX_DEDUP": "hunter2"}, "NOTIFY_SANDBOX_DEDUP"),
        (SMTP | {"NOTIFY_SMTP_URL": "http://u:hunter2@mail.example"}, "NOTIFY_SMTP_URL"),
        (SMTP | {"NOTIFY_SMTP_URL": "smtp://u:hunter2#@mail.example"}, "NOTIFY_SMTP_URL"),
        (SMTP | {"NOTIFY_SMTP_FROM": "hunter2"}, "NOTIFY_SMTP_FROM"),
        (SMTP | {"NOTIFY_SMTP_FROM": "Shop <a@b.c>\nBcc: hunter2@b.c"}, "NOTIFY_SMTP_FROM"),
        (SMTP | {"NOTIFY_SMTP_CONNECTIONS": "0"}, "NOTIFY_SMTP_CONNECTIONS"),
        ({"NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes"}, "NOTIFY_WEBHOOK_SECRETS"),
        ({"NOTIFY_WEBHOOK_SECRETS": f"{SECRET},hunter2"}, "NOTIFY_WEBHOOK_SECRETS"),
    ],
)
def test_a_wrong_setting_is_named_and_never_repeated(environ: dict[str, str], setting: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        registry.build_all(environ)
    assert str(refused.value).startswith(f"{setting}: ")
    assert "hunter2" not in str(refused.value)


def test_a_configuration_shown_in_a_traceback_hides_its_secrets() -> None:
    built = registry.build_all(SANDBOX | SMTP | WEBHOOK)
    assert "p@ss" not in repr(built)
    assert SECRET not in repr(built)
