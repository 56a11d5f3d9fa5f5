"""Access of recipients: operations that take an API key or the token of one recipient.

    @operation("GET v1/push/web/key", ..., Access(Scope.RECIPIENTS_READ, token_scope=...), ...)

The access rule has the scope of a key (`needs`) and the scope of a token (`token_scope`). A token
reaches the path of its own recipient only, which `me` names too. The answer to another user id is
the same whether that recipient exists or not.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import structlog
from django.db import Error
from pydantic import TypeAdapter, ValidationError
from rest_framework.request import Request

from notifications.core.api import authentication
from notifications.core.api.address_limits import check_failures, check_token, raise_failed
from notifications.core.api.authentication import CALLER, BearerKey, HasScope, rule_for
from notifications.core.api.base_view import BaseView, raise_not_found
from notifications.core.api.cors import PRODUCER, RECEIPTS
from notifications.core.api.problems import raise_problem
from notifications.core.intake import rejections
from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient_tokens import RecipientToken, Refusal, TokenRefused
from notifications.core.rules.request import UserId
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import recipients
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.recipient_tokens import cors, revocations, signing_keys, verification
from notifications.core.telemetry import instruments

if TYPE_CHECKING:
    from rest_framework.views import APIView  # DRF imports this module while it defines APIView

ME: Final = "me"
"""The user id of the token's own recipient in a path."""
_ORDINARY: Final = frozenset({Refusal.EXPIRED, Refusal.REVOKED, Refusal.PRODUCER})
"""Refusals that are no mistake of a developer."""
_DOTS: Final = 2
"""A JWT has three parts; an API key has no dot."""
_USER_ID: Final = TypeAdapter(UserId)
_log: Final = structlog.get_logger(__name__)


class KeyOrToken(BearerKey):
    """DRF authentication by API key or recipient token; sets `request.auth`."""

    def authenticate(self, request: Request) -> tuple[None, Any]:
        """Recognise the key or the token.

        Raises:
            ProblemError: neither is valid (401, 403), or too many were wrong (429).
        """
        text = bearer_of(request)
        if text.count(".") != _DOTS:
            return super().authenticate(request)
        return None, verified_token(request, text)


class MayAccess(HasScope):
    """DRF permission: the key or the token may call the operation, by `rules.access`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Check the scope, and that a token calls the path of its own recipient.

        Raises:
            ProblemError: the call is not permitted (403).
        """
        token = token_of(request)
        if token is None:
            return super().has_permission(request, view)
        rule = rule_for(request)
        if rule is None:
            return request.method not in view.allowed_methods
        if not rule.token_scope:
            raise_problem(Problem(Kind.FORBIDDEN, "no recipient token may call this operation"))
        check_scope(token, rule.token_scope)
        if view.kwargs.get("user_id", ME) not in {ME, token.user_id}:
            said = "the recipient token is of another recipient"
            raise_problem(Problem(Kind.FORBIDDEN, said))
        return True


class RecipientView(BaseView):
    """A view for API keys and recipient tokens. Calls with a token cost the producer nothing."""

    authentication_classes = (KeyOrToken,)
    permission_classes = (MayAccess,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - DRF's signature
        """Check the access, and count the call of a token against the recipient's limit.

        Raises:
            ProblemError: the call is not permitted (401, 403), or comes too early (429).
        """
        super().initial(request, *args, **kwargs)
        token = token_of(request)
        if token is not None:
            check_token(token)


def valid_user_id(user_id: str) -> str:
    """Return a valid user id.

    Raises:
        ProblemError: the user id is malformed, so no recipient can have the id (404).
    """
    try:
        return _USER_ID.validate_python(user_id)
    except ValidationError:
        raise_not_found("recipient")


def recipient_for(request: Request, user_id: str) -> Recipient:
    """Return the recipient of a path, of the mode of the key or token.

    Raises:
        ProblemError: the recipient does not exist (404).
    """
    token = token_of(request)
    if token is not None:
        row = Recipient.objects.filter(pk=token.recipient_id).first()
    else:
        row = recipients.find(mode=mode_of(request), user_id=valid_user_id(user_id))
    return row if row is not None else raise_not_found("recipient")


def recipient_id_for(request: Request, user_id: str, *, renew: bool = False) -> int:
    """Return the id of the recipient of a path, without a query for a recipient asked before.

    Args:
        request: the request.
        user_id: the user id in the path.
        renew: ask the database: a kept id may be of an erased recipient.

    Raises:
        ProblemError: the recipient does not exist in the caller's mode (404).
    """
    token = token_of(request)
    if token is not None:
        return _present_id(request, token) if renew else token.recipient_id
    if not renew:
        with contextlib.suppress(Error):  # the cached inbox is readable while the database is away
            revocations.follow()
    row = recipient_ids.find(mode=mode_of(request), user_id=valid_user_id(user_id), renew=renew)
    return row if row is not None else raise_not_found("recipient")


def _present_id(request: Request, token: RecipientToken) -> int:
    """Return the id of a token's recipient after a look into the database.

    The process may have verified the token with the kept id of an erased recipient. The token must
    not reach the next recipient with the user id.

    Raises:
        ProblemError: the recipient was erased (404), or the user id has another recipient (401).
    """
    row = recipient_ids.find(mode=token.mode, user_id=token.user_id, renew=True)
    if row is None:
        raise_not_found("recipient")
    if row != token.recipient_id:
        _raise_refused(request, TokenRefused(Refusal.REVOKED, producer_id=token.producer_id))
    return row


def token_of(request: Request) -> RecipientToken | None:
    """Return the recipient token of an authenticated request; None for an API key."""
    return request.auth if isinstance(request.auth, RecipientToken) else None


def mode_of(request: Request) -> Mode:
    """Return the mode of the request's key or token."""
    return cast("RecipientToken | KnownKey", request.auth).mode


def producer_id_of(request: Request) -> int:
    """Return the id of the producer of the request's key or token."""
    return cast("RecipientToken | KnownKey", request.auth).producer_id


def actor_of(request: Request) -> str:
    """Return the name of the key or token for the audit log."""
    token = token_of(request)
    if token is None:
        return authentication.actor_of(request)
    return f"recipient {token.recipient_id} (token of {token.key_id})"


def bearer_of(request: Request) -> str:
    """Return the text of the `Authorization: Bearer` header; empty: there is none."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def verified_token(request: Request, text: str) -> RecipientToken:
    """Return the content of the request's recipient token.

    Raises:
        ProblemError: the token is refused (401), the producer is switched off (403), or the
            client's address sent too many forged tokens (429).
    """
    try:
        if not signing_keys.is_cached(verification.key_id_of(text)):
            check_failures(request)
        token = verification.verify(text)
    except TokenRefused as refused:
        _raise_refused(request, refused)
    _check_origin(request, token)
    request.META[CALLER], request.META[PRODUCER] = token.key_id, token.producer_id
    return token


def _check_origin(request: Request, token: RecipientToken) -> None:
    """Refuse a call from a page of another producer, before the call changes anything.

    Client receipts come from every origin, as in `cors`. A page of the service's own host is
    permitted under each name of the host, because a browser names the origin of a POST there too.

    Raises:
        ProblemError: the producer of the token does not permit the origin (403).
    """
    origin = request.headers.get("Origin", "")
    is_own = origin.partition("://")[2] == request.get_host()
    is_open = not origin or is_own or request.path_info == RECEIPTS
    if is_open or cors.is_permitted(origin, token.producer_id):
        return
    said = "the producer of the token does not permit the origin of this page; an operator adds it"
    raise_problem(Problem(Kind.FORBIDDEN, said))


def check_scope(token: RecipientToken, scope: str) -> None:
    """Check that a token has a scope.

    Raises:
        ProblemError: the token lacks the scope (403).
    """
    if scope not in token.scopes:
        has = ", ".join(sorted(token.scopes)) or "no scope"
        said = f"the recipient token lacks the scope {scope}; the token has {has}"
        challenge = f'error="insufficient_scope", scope="{scope}"'
        raise_problem(Problem(Kind.FORBIDDEN, said, challenge=challenge))


def _raise_refused(request: Request, refused: TokenRefused) -> NoReturn:
    """Answer 401. Only refusals that a stranger can cause count against the client's address.

    An app with an expired token behind a shared address must learn that, and not get 429.

    Raises:
        ProblemError: always.
    """
    instruments.TOKENS_REFUSED.labels(refused.reason.value).inc()
    _log.info(
        "recipient_token_refused",
        reason=refused.reason.value,
        producer_id=refused.producer_id,
        token_id=refused.shown_id,
    )
    problem = Problem(Kind.UNAUTHENTICATED, str(refused), challenge='error="invalid_token"')
    if refused.producer_id is not None and refused.reason not in _ORDINARY:
        rejections.note_refused_token(refused.producer_id, problem)
    if refused.reason.is_forgery:
        raise_failed(request, problem)
    raise_problem(problem)
