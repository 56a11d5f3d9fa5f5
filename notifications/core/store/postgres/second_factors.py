"""Second factors of operators: an app's codes (TOTP), and recovery codes for a lost phone.

A recovery code works once. The length tells the kind of a code, so that a mistyped code of one kind
does not slow down attempts with the other kind.
"""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction
from django_otp import devices_for_user
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from notifications.core.store.postgres import audit

RECOVERY_CODES: Final = 10
"""Of a new set."""
_APP_DIGITS: Final = 6
_NAME: Final = "recovery codes"


def match(user: AbstractBaseUser, code: str) -> Device | None:
    """Return the account's factor that accepts a code; a match consumes a recovery code.

    The audit log gets an entry for a used recovery code.
    """
    code = "".join(code.split()).lower()
    kind = TOTPDevice if len(code) == _APP_DIGITS else StaticDevice
    with transaction.atomic():
        devices = devices_for_user(user, for_verify=True)
        mine = (each for each in devices if isinstance(each, kind))
        found: Device | None = next((each for each in mine if each.verify_token(code)), None)
        if isinstance(found, StaticDevice):
            told = {"codes": found.token_set.count()}
            before = {"codes": told["codes"] + 1}
            audit.record(user.get_username(), "use_recovery_code", found, before=before, after=told)
    return found


def new_recovery_codes(user: User) -> list[str]:
    """Replace the recovery codes of an account; return the new codes, to be shown once."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one set, whoever clicks twice
        device, _ = StaticDevice.objects.get_or_create(
            user=user, name=_NAME, defaults={"confirmed": True}
        )
        before = device.token_set.count()
        device.token_set.all().delete()
        made = {StaticToken.random_token() for _ in range(RECOVERY_CODES)}
        StaticToken.objects.bulk_create(StaticToken(device=device, token=each) for each in made)
        audit.record(
            user.get_username(),
            "make_recovery_codes",
            device,
            before={"codes": before},
            after={"codes": len(made), "made_anew": True},
        )
    return sorted(made)


def recovery_codes_left(user: User) -> int:
    """Return the number of unused recovery codes of an account."""
    left = StaticToken.objects.filter(device__user=user, device__confirmed=True)
    return int(left.count())


def remove(user: User) -> None:
    """Take all second factors of an account away, with the recovery codes."""
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
