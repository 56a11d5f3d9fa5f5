"""The account of an identity: created at the first sign-in, roles equal to the groups at each.

    no mapped group          refused; an existing account loses its roles and its sessions
    account switched off     refused
    first sign-in            a new account, unless a local account has the name or the e-mail

The groups `role: ...` follow the identity provider; an owner's own groups and the superuser flag
are left alone. The identity is issuer and subject. The e-mail address is stored for display.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import structlog
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.db.models import Q

from notifications.core.models import ExternalIdentity, SignIn
from notifications.core.rules.roles import GROUP_PREFIX
from notifications.core.rules.single_sign_on import Options
from notifications.core.store.postgres import audit
from notifications.core.store.redis import sign_ins

_log = structlog.get_logger(__name__)
_LONGEST: Final = 150
"""Characters of a user name and of a subject in the audit log."""
_BY: Final = "single sign-on"


class SignInRefused(Exception):
    """The identity provider knows the person, and the service refuses; the message tells why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def account_of(claims: Mapping[str, Any], options: Options) -> User:
    """Return the account of verified claims, with the roles of the person's groups.

    Raises:
        SignInRefused: e-mail, groups or account do not allow the sign-in. The audit log has an
            entry with the subject.
    """
    subject = str(claims["sub"])
    try:
        return _account(subject, claims, options)
    except SignInRefused as refusal:
        _log.warning("single_sign_on_refused", reason=refusal.reason)
        audit.record_about(
            _BY,
            "refuse_sign_in",
            object_type="identity",
            name=subject,
            after={"reason": refusal.reason},
        )
        raise


def roles_of(claims: Mapping[str, Any], options: Options) -> set[str]:
    """Return the roles of the groups in the claims; an unmapped group gives none."""
    value: object = claims
    for part in options.groups_claim.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    groups = value if isinstance(value, list) else [value]
    return {options.roles[str(group)] for group in groups if str(group) in options.roles}


def _account(subject: str, claims: Mapping[str, Any], options: Options) -> User:
    email = _email(claims, options)
    roles = roles_of(claims, options)
    identity = _identity(subject, options)
    if not roles:
        if identity is not None:
            _remove_access(identity.user)
        raise SignInRefused(
            "no_role", "None of your groups at the identity provider has a role here. Ask an owner."
        )
    user = identity.user if identity is not None else _create(subject, email, options)
    if not user.is_active:
        raise SignInRefused("switched_off", "Your account is switched off. Ask an owner.")
    _sync(user, roles=roles, email=email)
    return user


def _email(claims: Mapping[str, Any], options: Options) -> str:
    email = str(claims.get("email") or "").strip().lower()
    if "@" not in email or len(email) > _LONGEST:
        raise SignInRefused("no_email", "The identity provider gave no e-mail address.")
    if options.needs_verified_email and claims.get("email_verified") is not True:
        raise SignInRefused(
            "email_unverified", "Your e-mail address is not verified at the identity provider."
        )
    domain = email.rpartition("@")[2]
    if options.domains and domain not in options.domains:
        raise SignInRefused("domain", f"E-mail addresses of {domain} may not sign in here.")
    return email


def _identity(subject: str, options: Options) -> ExternalIdentity | None:
    rows = ExternalIdentity.objects.select_related("user")
    return rows.filter(issuer=options.issuer, subject=subject).first()


def _create(subject: str, email: str, options: Options) -> User:
    taken = SignInRefused(
        "local_account",
        "A local account has your e-mail address. An owner links it: manage.py link_identity.",
    )
    if User.objects.filter(Q(username__iexact=email) | Q(email__iexact=email)).exists():
        raise taken
    try:
        with audit.changes(_BY, "add_user") as made:
            user = User.objects.create_user(email, email=email, is_staff=True)
            ExternalIdentity.objects.create(user=user, issuer=options.issuer, subject=subject)
            made.append(user)
    except IntegrityError:  # the same person signs in twice at once
        again = _identity(subject, options)
        if again is None:
            raise taken from None
        return again.user
    return user


def _sync(user: User, *, roles: set[str], email: str) -> None:
    wanted = {f"{GROUP_PREFIX}{role}" for role in roles}
    with audit.changes(_BY, "sync_roles", User.objects.filter(pk=user.pk)):
        held = set(user.groups.filter(name__startswith=GROUP_PREFIX).values_list("name", flat=True))
        user.groups.remove(*Group.objects.filter(name__in=held - wanted))
        user.groups.add(*Group.objects.filter(name__in=wanted - held))
        if user.email != email:
            User.objects.filter(pk=user.pk).update(email=email)


def _remove_access(user: User) -> None:
    with transaction.atomic():
        _sync(user, roles=set(), email=user.email)
        sign_ins.end(SignIn.objects.filter(user=user, ended_at=None), by=_BY)
