"""Who calls, and whether they may: bearer keys with scopes.

A key works within microseconds because the process remembers it for a second (see
`store.postgres.api_keys`). Wrong keys are refused alike, whether the prefix exists or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from notifications.api.address_limits import check_failures, refuse_failed
from notifications.api.problems import refuse
from notifications.intake.validation import Caller
from notifications.rules import access
from notifications.rules.access import Rule, Scope
from notifications.rules.problems import Kind, Problem
from notifications.store.postgres import api_keys
from notifications.store.postgres.api_keys import KnownKey

if TYPE_CHECKING:
    from rest_framework.views import APIView  # DRF imports this module while it defines APIView


CALLER: Final = "notifications.caller"
"""In a request's META: the prefix of the key that was recognised."""


class BearerKey(BaseAuthentication):
    """`Authorization: Bearer nk_live_...`; the key becomes `request.auth`."""

    def authenticate(self, request: Request) -> tuple[None, KnownKey]:
        """Recognise the caller.

        Raises:
            Refusal: no key, or none that is good (401); its producer is switched off (403); too
                many wrong keys from the client's address (429).
        """
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            said = "send Authorization: Bearer <key>"
            refuse_failed(request, Problem(Kind.UNAUTHENTICATED, said))
        secret = secret.strip()
        if not api_keys.is_known(secret):
            check_failures(request)
        key = api_keys.recognise(secret)
        if key is None:
            said = "the key is unknown, expired or revoked"
            invalid = Problem(Kind.UNAUTHENTICATED, said, challenge='error="invalid_token"')
            refuse_failed(request, invalid)
        if not key.producer_is_active:
            refuse(Problem(Kind.FORBIDDEN, f"producer {key.producer_name} is switched off"))
        request.META[CALLER] = key.prefix
        return None, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        """What a 401 asks for."""
        return "Bearer"


class HasScope(BasePermission):
    """The key may call the operation, by the table of `rules.access`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Check it.

        Raises:
            Refusal: the key may not (403).
        """
        # A method without a line is refused, unless DRF refuses it anyway (405).
        if _rule(request) is None:
            return request.method not in view.allowed_methods
        permit(request)
        return True


def permit(request: Request, *, part: str = "") -> None:
    """Check that the key may call the request's operation, or hand in this part of its body.

    Raises:
        Refusal: the key lacks the scope, or has the wrong mode (403).
    """
    rule, key = _rule(request, part=part), key_of(request)
    if rule is None or not isinstance(rule.needs, Scope):
        refuse(Problem(Kind.FORBIDDEN, "no key may call this operation"))
    if not key.grants(rule.needs):
        held = ", ".join(sorted(key.scopes)) or "no scope"
        challenge = f'error="insufficient_scope", scope="{rule.needs}"'
        said = f"the key lacks the scope {rule.needs}; it has {held}"
        refuse(Problem(Kind.FORBIDDEN, said, challenge=challenge))
    if key.mode not in rule.modes:
        said = f"a {key.mode.label} key may not call this operation: {rule.why_live}"
        refuse(Problem(Kind.FORBIDDEN, said))


def _rule(request: Request, *, part: str = "") -> Rule | None:
    found = request.resolver_match
    return access.rule_of(request.method or "", found.route, part) if found else None


def key_of(request: Request) -> KnownKey:
    """The key that an authenticated request came with."""
    return cast("KnownKey", request.auth)


def actor_of(request: Request) -> str:
    """The key, as the audit log and the columns `created_by` and `undone_by` name it."""
    key = key_of(request)
    return f"producer {key.producer_name} ({key.prefix})"


def caller_of(request: Request) -> Caller:
    """The producer behind that key, as the pipeline knows callers."""
    key = key_of(request)
    return Caller(
        producer_id=key.producer_id,
        mode=key.mode,
        priorities=key.priorities,
        may_send_content=key.may_send_content,
        may_register=key.grants(Scope.NOTIFICATIONS_TO),
        by=actor_of(request),
    )
