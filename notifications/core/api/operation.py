"""API operations, each declared once beside its function.

    @operation(
        "POST v1/keys/rotate",
        "Rotate the caller's key",
        Access(Scope.KEYS_ROTATE, right="add_apikey"),
        RotateRequest,
        answers={201: KeyRotated},
        tag="Keys",
        problems={Kind.CONFLICT},
        examples={"minimal": Example("The old key works for a day", body={}), ...},
    )
    def rotate_key(call: Call, wanted: RotateRequest) -> KeyRotated:

The name of the function is the `operationId` of the OpenAPI document and the operation in the audit
log; the docstring is the description. `routes` returns the URL patterns of the operations of a
module, and adds their rules to the table in `rules.access`. `resource` declares the lists, reads
and changes of rows.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final, NamedTuple, TypedDict, TypeVar, Unpack, cast, overload

from django.db.models import Model, QuerySet
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema, throttle
from notifications.core.api.authentication import caller_of, key_of, permit
from notifications.core.api.base_view import BaseView, OpenView, parse_body
from notifications.core.api.examples import Example
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import parse_query
from notifications.core.api.recipient_access import (
    RecipientView,
    actor_of,
    mode_of,
    recipient_for,
    token_of,
)
from notifications.core.api.schemas import ResponseModel
from notifications.core.intake.validation import Caller
from notifications.core.models import Recipient
from notifications.core.rules import access
from notifications.core.rules.access import BOTH, AccessRule, Entry
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind
from notifications.core.rules.recipient_tokens import RecipientToken
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import audit
from notifications.core.store.postgres.api_keys import KnownKey

Input = TypeVar("Input", bound=BaseModel)
Answer = ResponseModel | HttpResponseBase | None
"""A model is answered with the first status of the declaration; None without a body."""
Answers = Mapping[Any, Any]
"""Status, or status and media type -> schema; None: no body."""
_IN_QUERY: Final = frozenset({"get", "delete"})
"""Methods whose input is the query string; the input of the others is the body."""
_NO_STORE: Final = {"Cache-Control": "no-store"}


class Access(NamedTuple):
    """The callers of an operation: see `AccessRule`."""

    needs: Scope | Entry
    modes: frozenset[Mode] = BOTH
    right: str = ""
    token_scope: str = ""


class Options(TypedDict, total=False):
    """Facts that some operations have."""

    examples: Mapping[str, Example]
    """Name -> call. The first example is `minimal`; an operation has two at least."""
    parts: Mapping[str, Access]
    """Part of the input with a scope of its own -> callers that may give it. The name of a field is
    checked before the input is read; the function checks any other part by `permit`."""
    problems: Collection[Kind]
    """Problems that do not follow from path, input and access, such as CONFLICT."""
    is_idempotent: bool
    """Take an Idempotency-Key; without the option each POST does."""
    shows_secret: bool
    """Forbid caches to store the answer."""
    parameters: Sequence[OpenApiParameter]
    """Headers, and query parameters that the function reads itself."""
    raw_body: Any
    """Schema, or media type -> schema, of a body that the function reads itself."""
    base: type[BaseView]
    """A view with other parsers or renderers, for all operations of the path."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation by a caller with the scope and the mode."""

    operation: str
    view: BaseView
    request: Request
    path: Mapping[str, Any]
    """Values of the parameters of the path."""

    @property
    def key(self) -> KnownKey:
        """The API key, in an operation that no recipient token may call."""
        return key_of(self.request)

    @property
    def token(self) -> RecipientToken | None:
        """The recipient token; None for a call by an API key."""
        return token_of(self.request)

    @property
    def mode(self) -> Mode:
        """Mode of the key or token."""
        return mode_of(self.request)

    @property
    def by(self) -> str:
        """Name of the key or token for the audit log."""
        return actor_of(self.request)

    @property
    def caller(self) -> Caller:
        """Producer of the key, for the intake stage."""
        return caller_of(self.request)

    def recipient(self) -> Recipient:
        """Return the recipient that the path names.

        Raises:
            ProblemError: the recipient does not exist in the mode of the caller (404).
        """
        return recipient_for(self.request, self.path["user_id"])

    def changes(self, *rows: QuerySet[Any]) -> AbstractContextManager[list[Model]]:
        """Audit the changes of rows in a transaction: see `audit.changes`."""
        return audit.changes(self.by, self.operation, *rows)

    def charge(self, cost: int) -> None:
        """Take a cost that is known after the work: see `throttle.charge_afterwards`."""
        throttle.charge_afterwards(self.view, self.request, cost=cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The declaration of an operation."""

    name: str
    method: str
    path: str
    """As Django's router spells it, `v1/alerts/<int:alert_id>/resolve`."""
    rules: Sequence[AccessRule]
    """That of the operation, then those of its parts."""
    examples: Mapping[str, Example]
    problems: frozenset[Kind]
    handler: Callable[..., HttpResponseBase]
    """The method of the view, with the facts for drf-spectacular."""
    base: type[BaseView]


_served: Final[dict[str, Operation]] = {}


@overload
def operation(
    route: str,
    summary: str,
    callers: Access,
    *,
    answers: Answers,
    tag: str,
    **options: Unpack[Options],
) -> Callable[[Callable[[Call], Answer]], Operation]: ...


@overload
def operation(
    route: str,
    summary: str,
    callers: Access,
    takes: type[Input],
    *,
    answers: Answers,
    tag: str,
    **options: Unpack[Options],
) -> Callable[[Callable[[Call, Input], Answer]], Operation]: ...


def operation(
    route: str,
    summary: str,
    callers: Access,
    takes: type[BaseModel] | None = None,
    *,
    answers: Answers,
    tag: str,
    **options: Unpack[Options],
) -> Callable[[Callable[..., Answer]], Operation]:
    """Declare the operation that the decorated function answers.

    Args:
        route: method and path, the path as Django's router spells it.
        summary: title in the OpenAPI document.
        callers: the callers that the operation lets in.
        takes: schema of the query string or the body; None: the function takes the call alone.
        answers: status -> schema of the answer; the first status is that of a returned model.
        tag: group in the OpenAPI document.
        options: see `Options`.
    """
    verb, _, place = route.partition(" ")
    method = verb.lower()
    status = _first_status(answers)
    parts = options.get("parts", {})
    described = extend_schema(
        summary=summary,
        parameters=_parameters(method, takes, options),
        request=options.get("raw_body", None if method in _IN_QUERY else takes),
        responses=dict(answers),
        tags=[tag],
    )

    def declare(function: Callable[..., Answer]) -> Operation:
        name = function.__name__
        handler: Any = _handler(function, _reader(method, takes, parts), status, options)
        if options.get("is_idempotent", method == "post"):
            handler = idempotent(handler)
        named = extend_schema(operation_id=name, description=inspect.getdoc(function) or "")
        return Operation(
            name=name,
            method=method,
            path=place,
            rules=_rules(f"{verb} /{access.path_of(place)}", callers, parts),
            examples=_with_status(options.get("examples", {}), status),
            problems=frozenset(options.get("problems", ())),
            handler=named(described(handler)),
            base=options.get("base", _base_for(callers)),
        )

    return declare


def routes(*modules: ModuleType) -> list[URLPattern]:
    """Return a URL pattern for each path of the modules, in the order of the declarations.

    The access rules and the facts for the OpenAPI document join those of the other operations.
    """
    by_path = defaultdict[str, list[Operation]](list)
    for each in (value for module in modules for value in vars(module).values()):
        if isinstance(each, Operation):
            _served[each.name] = each
            by_path[each.path].append(each)
            access.add(each.rules)
    return [path(place, _view(same).as_view()) for place, same in by_path.items()]


def operations_by_name() -> Mapping[str, Operation]:
    """Return the declared operations of the imported URL tables, by name."""
    return _served


def _view(operations: Sequence[Operation]) -> type[BaseView]:
    others = {each.base for each in operations} - {BaseView}
    [base] = others or {BaseView}
    methods = {each.method: each.handler for each in operations}
    return cast(
        "type[BaseView]", type("OperationView", (base,), {**methods, "declared": operations})
    )


def _base_for(callers: Access) -> type[BaseView]:
    if callers.needs in {Entry.OPEN, Entry.SIGNED, Entry.RECIPIENT}:
        return OpenView
    return RecipientView if callers.token_scope else BaseView


def _rules(name: str, callers: Access, parts: Mapping[str, Access]) -> list[AccessRule]:
    of_parts = (AccessRule(f"{name} {part}", *each) for part, each in parts.items())
    return [AccessRule(name, *callers), *of_parts]


def _first_status(answers: Answers) -> int:
    first = next(iter(answers))
    return first if isinstance(first, int) else int(first[0])


def _with_status(examples: Mapping[str, Example], status: int) -> Mapping[str, Example]:
    return {name: replace(each, status=each.status or status) for name, each in examples.items()}


def _parameters(
    method: str, takes: type[BaseModel] | None, options: Options
) -> list[OpenApiParameter]:
    of_query = schema.parameters(takes) if takes and method in _IN_QUERY else []
    return [*of_query, *options.get("parameters", ())]


def _reader(
    method: str, takes: type[BaseModel] | None, parts: Mapping[str, Access]
) -> Callable[[Request], list[Any]]:
    """Return a function that reads the input of a call, behind the call itself."""
    if takes is None:
        return lambda _request: []

    def read(request: Request) -> list[Any]:
        in_query = method in _IN_QUERY
        given = request.query_params if in_query else request.data
        for part in parts:
            if isinstance(given, dict) and given.get(part) is not None:
                permit(request, part=part)
        return [parse_query(request, takes) if in_query else parse_body(given, takes)]

    return read


def _handler(
    function: Callable[..., Answer],
    read: Callable[[Request], list[Any]],
    status: int,
    options: Options,
) -> Callable[..., HttpResponseBase]:
    headers = _NO_STORE if options.get("shows_secret") else None

    def handle(view: BaseView, request: Request, **parameters: Any) -> HttpResponseBase:  # noqa: ANN401 - as in the path
        call = Call(function.__name__, view, request, parameters)
        answer = function(call, *read(request))
        if isinstance(answer, HttpResponseBase):
            return answer
        told = None if answer is None else answer.to_json()
        return Response(told, status=status, headers=headers)

    return handle
