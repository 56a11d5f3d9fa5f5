"""The rows of a first start: administrator, notification types, a live key of a first producer.

One transaction makes the administrator and the key, so a run that ends early leaves neither without
the line that shows the secret. Two runs at a time wait for each other.
"""

from __future__ import annotations

import io
import secrets
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import transaction

from notifications.core.models import ApiKey, Producer
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import api_keys, db, locks
from notifyproj.first_start.terminal import Refused

PRODUCER: Final = "first"
_BY: Final = "manage.py init"
_LONGEST_WAIT: Final = "30s"
"""For another run; the first use of the rules of access loads modules for seconds."""
_RANDOM_BYTES: Final = 18
"""Of a password: 144 bits, 24 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a run; a secret is empty for a row that existed before."""

    administrator: str
    password: str
    """Random; empty if the administrator existed, or if the person chose the password."""
    is_new: bool
    key: str
    secret: str


def administrator() -> str:
    """Return the name of an active administrator; empty if there is none."""
    found = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return found.get_username() if found else ""


def create(*, owner: str, password: str) -> Rows:
    """Create the missing rows.

    Args:
        owner: the e-mail address of the administrator, if there is none yet.
        password: the password of the administrator; empty: a random one.

    Raises:
        Refused: the password is weak, or the account exists without the rights.
    """
    chosen = password or secrets.token_urlsafe(_RANDOM_BYTES)
    account = None if administrator() else _account(owner, chosen)
    with transaction.atomic():
        with db.cursor() as running:
            running.execute("SELECT set_config('lock_timeout', %s, true)", [_LONGEST_WAIT])
        locks.wait_for_transaction([_BY])
        name = administrator()
        if account is not None and not name:
            _store(account)
        key, secret = _live_key()
    is_new = account is not None and not name
    return Rows(
        administrator=name or owner,
        password=chosen if is_new and not password else "",
        is_new=is_new,
        key=key,
        secret=secret,
    )


def _account(owner: str, password: str) -> User:
    """Return the administrator, not stored yet.

    Raises:
        Refused: the password is weak.
    """
    account = User(username=owner, email=owner, is_staff=True, is_superuser=True)
    try:
        validate_password(password, account)
    except ValidationError as error:
        raise Refused(_words(owner, error)) from None
    account.set_password(password)
    return account


def _store(account: User) -> None:
    """Store the administrator.

    Raises:
        Refused: an account with the name exists.
    """
    try:
        account.full_clean(exclude=["password"])
    except ValidationError as error:
        raise Refused(_words(account.get_username(), error)) from None
    account.save()


def _words(owner: str, error: ValidationError) -> str:
    return f"The administrator {owner} was not created: {' '.join(error.messages)}"


def _live_key() -> tuple[str, str]:
    """Return the prefix and the secret of the first live key; no secret for a key that exists."""
    found = ApiKey.objects.filter(mode=Mode.LIVE, revoked_at=None).order_by("pk").first()
    if found is not None:
        return found.prefix, ""
    # The first mail has no template yet.
    producer, _ = Producer.objects.get_or_create(name=PRODUCER, defaults={"may_send_content": True})
    key, secret = api_keys.issue(
        producer, mode=Mode.LIVE, scopes=["notifications:*"], note="first key", by=_BY
    )
    return key.prefix, secret


def create_types() -> list[str]:
    """Create the missing notification types; returns a line for each type."""
    output = io.StringIO()
    call_command("create_types", stdout=output)
    return output.getvalue().splitlines()


def takes_passwords() -> bool:
    """Return True if administrators can sign in by password."""
    return bool(settings.PASSWORD_SIGN_IN)
