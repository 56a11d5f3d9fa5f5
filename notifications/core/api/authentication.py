"""Authentication with bearer keys, and authorization by scope.

The process caches a recognised key for a second (see `store.postgres.api_keys`), so authentication
takes microseconds. All wrong keys get the same response, whether the prefix exists or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from notifications.core.api.address_limits import check_failures, raise_failed
from notifications.core.api.problems import raise_problem
from notifications.core.intake.validation import Caller
from notifications.core.rules import access
from notifications.core.rules.access import AccessRule, Entry
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import api_keys
from notifications.core.store.postgres.api_keys import KnownKey

if TYPE_CHECKING:
    from rest_framework.views import APIView  # DRF imports this module while it defines APIView


CALLER: Final = "notifications.caller"
"""Key of `request.META` for the prefix of the recognised key."""


class BearerKey(BaseAuthentication):
    """DRF authentication for `Authorization: Bearer nk_live_...`; sets `request.auth`."""

    def authenticate(self, request: Request) -> tuple[None, KnownKey]:
        """Recognise the key of the request.

        Raises:
            ProblemError: the key is missing or invalid (401); the producer is switched off (403);
                the client's address sent too many wrong keys (429).
        """
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            said = "send Authorization: Bearer <key>"
            raise_failed(request, Problem(Kind.UNAUTHENTICATED, said))
        secret = secret.strip()
        if not api_keys.is_known(secret):
            check_failures(request)
        key = api_keys.recognise(secret)
        if key is None:
            said = "the key is unknown, expired or revoked"
            invalid = Problem(Kind.UNAUTHENTICATED, said, challenge='error="invalid_token"')
            raise_failed(request, invalid)
        if not key.producer_is_active:
            raise_problem(Problem(Kind.FORBIDDEN, f"producer {key.producer_name} is switched off"))
        request.META[CALLER] = key.prefix
        return None, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        """Return the scheme for the WWW-Authenticate header of a 401."""
        return "Bearer"


class HasScope(BasePermission):
    """DRF permission: the key may call the operation, by the table in `rules.access`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Check the key's scope and mode for the operation.

        Raises:
            ProblemError: the key may not call the operation (403).
        """
        # A method without a rule is forbidden (403), unless DRF answers 405 for the method.
        rule = rule_for(request)
        if rule is None:
            return request.method not in view.allowed_methods
        if rule.needs is not Entry.KEY:
            check(rule, key_of(request))
        return True


def permit(request: Request, *, part: str = "") -> None:
    """Check the key's scope and mode for the operation, or for a part of the body.

    Raises:
        ProblemError: the key lacks the scope, or has the wrong mode (403).
    """
    check(rule_for(request, part=part), key_of(request))


def check(rule: AccessRule | None, key: KnownKey) -> None:
    """Check a key's scope and mode for the operation of a rule.

    Raises:
        ProblemError: the key lacks the scope, or has the wrong mode (403).
    """
    if rule is None or not isinstance(rule.needs, Scope):
        raise_problem(Problem(Kind.FORBIDDEN, "no key may call this operation"))
    if not key.grants(rule.needs):
        held = ", ".join(sorted(key.scopes)) or "no scope"
        challenge = f'error="insufficient_scope", scope="{rule.needs}"'
        said = f"the key lacks the scope {rule.needs}; the key has {held}"
        raise_problem(Problem(Kind.FORBIDDEN, said, challenge=challenge))
    if key.mode not in rule.modes:
        said = f"a {key.mode.label} key may not call this operation: {rule.why_live}"
        raise_problem(Problem(Kind.FORBIDDEN, said))


def rule_for(request: Request, *, part: str = "") -> AccessRule | None:
    """Return the access rule of the operation, or of a part of the body; None: there is none."""
    found = request.resolver_match
    return access.rule_of(request.method or "", found.route, part) if found else None


def key_of(request: Request) -> KnownKey:
    """Return the API key of an authenticated request."""
    key: KnownKey = request.auth  # type: ignore[assignment]  # DRF names its own model of a token
    return key


def actor_of(request: Request) -> str:
    """Return the name of the key for the audit log, `created_by` and `undone_by`."""
    return _name_of(key_of(request))


def _name_of(key: KnownKey) -> str:
    return f"producer {key.producer_name} ({key.prefix})"


def caller_of(request: Request) -> Caller:
    """Return the producer of the request for the intake stage."""
    return caller_with(key_of(request))


def caller_with(key: KnownKey) -> Caller:
    """Return the producer of a key for the intake stage."""
    return Caller(
        producer_id=key.producer_id,
        mode=key.mode,
        priorities=key.priorities,
        may_send_content=key.may_send_content,
        may_register=key.grants(Scope.NOTIFICATIONS_TO),
        is_post=True,
        by=_name_of(key),
    )
