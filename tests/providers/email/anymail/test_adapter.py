"""Settings: what is read, and what a person sees when they are wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from providers import registry
from providers.email.anymail.adapter import VENDOR
from providers.email.anymail.services import SERVICES
from providers.errors import ConfigurationError, NoReceipts

GOOD = {
    "NOTIFY_ANYMAIL_ESP": "Postmark",
    "NOTIFY_ANYMAIL_OPTIONS": '{"POSTMARK_SERVER_TOKEN": "hunter2", "message_stream": "otp"}',
    "NOTIFY_ANYMAIL_FROM": "Shop <no-reply@shop.example>",
}


def test_the_registry_knows_it_like_any_other_vendor() -> None:
    assert registry.settings_names() >= VENDOR.settings
    built = registry.build_all(GOOD)
    assert set(built) == {"anymail"}
    assert "hunter2" not in repr(built)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_says_what_it_misses(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"NOTIFY_ANYMAIL_OPTIONS: {name} needs the opt"):
        registry.build_all(GOOD | {"NOTIFY_ANYMAIL_ESP": name, "NOTIFY_ANYMAIL_OPTIONS": "{}"})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("NOTIFY_ANYMAIL_ESP", ""),
        ("NOTIFY_ANYMAIL_ESP", "hunter2"),
        ("NOTIFY_ANYMAIL_FROM", "hunter2"),
        ("NOTIFY_ANYMAIL_OPTIONS", ""),
        ("NOTIFY_ANYMAIL_OPTIONS", "hunter2"),
        ("NOTIFY_ANYMAIL_OPTIONS", '["hunter2"]'),
        ("NOTIFY_ANYMAIL_OPTIONS", '{"server_token": ""}'),
        ("NOTIFY_ANYMAIL_OPTIONS", '{"server_token": ["hunter2"]}'),
        ("NOTIFY_ANYMAIL_OPTIONS", '{"server_token": "hunter2", "stream": "otp"}'),
        ("NOTIFY_ANYMAIL_OPTIONS", '{"server_token": "hunter2", "api_url": "ftp://x"}'),
        ("NOTIFY_ANYMAIL_WEBHOOK_SECRET", "hunter2"),
        ("NOTIFY_ANYMAIL_WEBHOOK_SECRET", "user:hunter2,:hunter2"),
        ("NOTIFY_ANYMAIL_CODES", "406=hunter2"),
    ],
)
def test_a_wrong_setting_is_named_and_never_repeated(setting: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        registry.build_all(GOOD | {setting: value})
    assert str(refused.value).startswith(f"{setting}: ")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "can"),
    [
        ({}, False),
        ({"NOTIFY_ANYMAIL_WEBHOOK_SECRET": "user:password"}, True),
        (
            {
                "NOTIFY_ANYMAIL_ESP": "mailgun",
                "NOTIFY_ANYMAIL_OPTIONS": '{"api_key": "signs too"}',
            },
            True,
        ),
        (
            {  # signs everything, and we have no key
                "NOTIFY_ANYMAIL_ESP": "mandrill",
                "NOTIFY_ANYMAIL_OPTIONS": '{"api_key": "k"}',
                "NOTIFY_ANYMAIL_WEBHOOK_SECRET": "user:password",
            },
            False,
        ),
        (
            {  # anymail has no view for it
                "NOTIFY_ANYMAIL_ESP": "scaleway",
                "NOTIFY_ANYMAIL_OPTIONS": '{"secret_key": "k", "project_id": "p"}',
                "NOTIFY_ANYMAIL_WEBHOOK_SECRET": "user:password",
            },
            False,
        ),
    ],
)
def test_receipts_are_taken_only_where_they_can_be_verified(
    changes: dict[str, str], *, can: bool
) -> None:
    provider = registry.build_all(GOOD | changes)["anymail"]
    assert provider.capabilities.gives_receipts is can
    if not can:
        with pytest.raises(NoReceipts):
            provider.parse_receipt(None)  # type: ignore[arg-type] # it is not looked at


def test_a_process_that_never_sends_through_it_never_loads_it() -> None:
    code = (
        "import sys, providers.registry; print({'anymail', 'django', 'requests'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
