"""`manage.py token_secret` prints a secret once and says what is wrong."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from notifications.core.models import AuditEntry, Producer, TokenSecret
from notifications.core.store.recipient_tokens import token_secrets

pytestmark = pytest.mark.django_db


def _run(*arguments: str) -> str:
    written = io.StringIO()
    call_command("token_secret", *arguments, stdout=written, stderr=io.StringIO())
    return written.getvalue().strip()


def test_a_secret_is_created_listed_rotated_and_revoked() -> None:
    Producer.objects.create(name="shop")
    first = _run("create", "shop", "--mode", "live", "--scopes", "inbox:read")
    row = TokenSecret.objects.get()
    assert first == token_secrets.text_of(row)
    assert _run("list", "shop") == f"{row.key_id} active inbox:read"
    second = _run("rotate", row.key_id, "--days", "1")
    assert second.startswith("nts_live_")
    assert _run("revoke", row.key_id) == "1 secrets revoked."
    assert f"{row.key_id} revoked" in _run("list", "shop")
    assert AuditEntry.objects.filter(by="manage.py token_secret").count() >= 3
    assert first not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create", "nobody"], "unknown producer 'nobody'"),
        (["list", "nobody"], "unknown producer 'nobody'"),
        (["rotate", "nts_live_x"], "unknown token secret 'nts_live_x'"),
        (["revoke", "nts_live_x"], "unknown token secret"),
    ],
)
def test_an_unknown_name_is_an_error(arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        _run(*arguments)


def test_a_revoked_secret_is_not_rotated() -> None:
    Producer.objects.create(name="shop")
    key_id = _run("create", "shop").rpartition("_")[0]
    _run("revoke", key_id)
    with pytest.raises(CommandError, match="revoked"):
        _run("rotate", key_id)
