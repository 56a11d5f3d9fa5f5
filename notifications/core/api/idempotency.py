"""`Idempotency-Key`: a repeated POST with the same key and body gets the first response again.

The rule is the same for every POST with a producer's key: a key has 1 to 255 printable ASCII
characters and is kept for 24 hours, per producer and mode. `intake.accept` stores the keys of
notifications; the decorator `idempotent` does the same for every other POST. The row with key and
response is stored in the transaction of the write. A refused call stores nothing, so the key stays
unused.

The response is stored encrypted, because a response can contain addresses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Concatenate, Final, ParamSpec, TypeVar

import orjson
from cryptography.fernet import InvalidToken
from django.db import OperationalError, transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from notifications.core.api import schema
from notifications.core.api.authentication import key_of
from notifications.core.api.problems import raise_problem
from notifications.core.intake import held_keys
from notifications.core.intake.idempotency_keys import IN_PROGRESS, KEY_REUSED
from notifications.core.rules.problems import FieldError, Kind, Problem, Source
from notifications.core.rules.request import MAX_KEY, RESERVED_KEYS
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres import db_errors, idempotency, secret_variables
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.postgres.idempotency import IdempotencyKey, IdempotencyRecord
from notifications.core.store.postgres.secret_variables import Fingerprint

View = TypeVar("View", bound=APIView)
Arguments = ParamSpec("Arguments")
Post = Callable[Concatenate[View, Request, Arguments], Response]

REPLAYED: Final[Mapping[str, str]] = {"Idempotent-Replayed": "true"}
"""The header of a repeated response."""
_KEPT_HEADERS: Final = ("Cache-Control", "ETag", "Location")
_UNREADABLE: Final = Problem(
    Kind.CONFLICT,
    "the first call with this key succeeded, but the encryption key of the stored response was"
    " removed; read the object to see the result",
)


def header(request: Request) -> str | None:
    """Return the request's Idempotency-Key, None without the header.

    Raises:
        ProblemError: the key is too long, has invalid characters or a reserved prefix (422).
    """
    return checked(request.headers.get("Idempotency-Key"))


def checked(key: str | None) -> str | None:
    """Return the value of the header, None without the header.

    Raises:
        ProblemError: as `header`.
    """
    if key is None:
        return None
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise_problem(_wrong(f"must be 1 to {MAX_KEY} printable ASCII characters"))
    if key.startswith(RESERVED_KEYS):
        raise_problem(
            _wrong(f"must not begin with {RESERVED_KEYS}: the service reserves this prefix")
        )
    return key


def _wrong(said: str) -> Problem:
    error = FieldError("/Idempotency-Key", said, Source.HEADER)
    return Problem(Kind.INVALID, f"Idempotency-Key: {said}", (error,))


def canonical(body: object, *, before: str = "") -> Sensitive[bytes]:
    """Encode a decoded body with sorted keys: equal JSON values give equal bytes.

    Args:
        body: the decoded JSON of the request, or raw bytes.
        before: text placed before the encoded body.

    Raises:
        ProblemError: the JSON is nested too deeply (400).
    """
    if isinstance(body, bytes):
        return Sensitive(before.encode() + body)
    try:
        encoded = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise_problem(Problem(Kind.MALFORMED, f"the body cannot be taken: {error}"))
    return Sensitive(before.encode() + encoded)


def idempotent(post: Post[View, Arguments]) -> Post[View, Arguments]:
    """Decorate a view's `post` with idempotency. The view may write to the database only.

    Keys belong to a producer, so the key of a call with a recipient token is not kept: another
    recipient's app could send the same key.
    """

    @functools.wraps(post)
    def once(
        view: View, request: Request, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Response:
        name = header(request)
        if name is None or not isinstance(request.auth, KnownKey):
            return post(view, request, *args, **kwargs)
        key = IdempotencyKey(key_of(request).producer_id, key_of(request).mode, name)
        fingerprint = Fingerprint(canonical(request.data, before=f"{request.path}\n"))
        with transaction.atomic():
            earlier = _claim_key(key, fingerprint)
            if earlier is not None:
                return _repeat_response(earlier, fingerprint)
            response = post(view, request, *args, **kwargs)
            idempotency.keep(key, _encrypt_response(response))
        return response

    documented: Post[View, Arguments] = extend_schema(parameters=[schema.IDEMPOTENCY_KEY])(once)
    return documented


def _claim_key(key: IdempotencyKey, fingerprint: Fingerprint) -> IdempotencyRecord | None:
    """Insert the key in the open transaction; return the stored entry of an earlier call.

    Raises:
        ProblemError: the earlier call is still running (409).
        OperationalError: the database is away.
    """
    try:
        return idempotency.take(key, fingerprint.kept, patience=held_keys.patience([key]))
    except OperationalError as error:
        if not db_errors.is_lock_timeout(error):
            raise
        held_keys.note([key])
        raise_problem(IN_PROGRESS)


def _encrypt_response(response: Response) -> dict[str, str]:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    answer = {"status": response.status_code, "body": response.data, "headers": headers}
    return {"sealed": secret_variables.encrypt(Sensitive(answer)).decode()}


def _repeat_response(earlier: IdempotencyRecord, fingerprint: Fingerprint) -> Response:
    if not fingerprint.is_of(earlier.body_hash):
        raise_problem(KEY_REUSED)
    try:
        answer = secret_variables.decrypt(earlier.response["sealed"].encode()).reveal()
    except InvalidToken:
        raise_problem(_UNREADABLE)
    headers = {**answer["headers"], **REPLAYED}
    return Response(answer["body"], status=answer["status"], headers=headers)
