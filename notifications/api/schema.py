# mypy: allow-untyped-calls
# (drf-spectacular's own functions have no types)
"""The OpenAPI 3.1 document, from the shapes that check the requests, and its pages.

What every operation can answer besides its success (no key, no scope, malformed, too large, ...)
follows from what it takes, so it is added here once instead of at every view.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from types import GenericAlias
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from pydantic import BaseModel, create_model
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api import problems
from notifications.api.door import OpenDoor
from notifications.api.shapes import Answer, ProblemDetails
from notifications.rules.problems import Kind

IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Repeat a call with the same key and body and get the first answer, for 24 hours.",
)
_CAN_CONFLICT: Final = frozenset({
    ("post", "/v1/dead-letters"),
    ("post", "/v1/keys"),
    ("patch", "/v1/notifications"),
    ("patch", "/v1/recipients"),
    ("post", "/v1/schedules"),
    ("patch", "/v1/schedules"),
})
"""Where an object's state can forbid a call: its method and the beginning of its path."""
_HEADERS: Final = {
    "X-Request-Id": "The id of the request in the service's logs.",
    "RateLimit": "What the producer has left, and the seconds until its burst is whole again.",
    "RateLimit-Policy": "The producer's burst, and the seconds in which it fills.",
    "Idempotent-Replayed": "`true`: the answer was given before, to the same key and body.",
    "ETag": "Names this state of the object: for If-Match and If-None-Match.",
    "Retry-After": "Seconds after which the same call would be taken.",
}
_COMES_BACK: Final = frozenset({Kind.IN_PROGRESS, Kind.RATE_LIMITED, Kind.UNAVAILABLE})
_REFERENCE: Final = "#/components/schemas/{model}"
"""Where a shape stands in the document."""


def parameters(query: type[BaseModel]) -> list[OpenApiParameter]:
    """A query shape as the operation's parameters."""
    whole = query.model_json_schema(ref_template="{model}")
    shapes = whole.get("$defs", {})
    return [
        OpenApiParameter(name, _plain(field, shapes), OpenApiParameter.QUERY)
        for name, field in whole["properties"].items()
    ]


def _plain(field: dict[str, Any], shapes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A field without null (a parameter is left out instead) and without references.

    Args:
        field: its JSON schema.
        shapes: what it may refer to, by name. Most tools read no reference in a parameter.
    """
    choices = [choice for choice in field.get("anyOf", [field]) if choice != {"type": "null"}]
    found = {**shapes.get(choices[0].get("$ref", ""), {}), **choices[0]}
    if "items" in found:
        found["items"] = _plain(found["items"], shapes)
    return {key: value for key, value in found.items() if key not in {"title", "$ref"}}


def _without_defaults(shape: dict[str, Any]) -> dict[str, Any]:
    """A shape with its defaults in words.

    Generators of clients make a field with a `default` required: the server fills it in, so that
    whoever reads it finds it. In a request the caller would have to send it.
    """
    fields = {name: _in_words(field) for name, field in shape.get("properties", {}).items()}
    return {**shape, "properties": fields} if fields else shape


def _in_words(field: dict[str, Any]) -> dict[str, Any]:
    default = field.get("default")
    said = field.get("description", "")
    if default not in (None, "", [], {}):
        said = f"{said} Default: `{json.dumps(default)}`.".strip()
    kept = {name: part for name, part in field.items() if name not in {"default", "description"}}
    return {**kept, "description": said} if said else kept


@functools.cache
def page_of(shape: type[Answer]) -> type[BaseModel]:
    """The answer of a list of `shape`, as `pages.page` builds it."""
    results: Any = GenericAlias(list, (shape,))
    return create_model(f"{shape.__name__}Page", results=(results, ...), next=(str | None, ...))


class ShapeExtension(OpenApiSerializerExtension):
    """Pydantic models as request and response bodies, each in its own direction.

    The one that ships with drf-spectacular describes requests as they would be written out, where a
    field with a default is required.
    """

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:  # noqa: ARG002 - its signature
        """The class's own name."""
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> str:  # noqa: ARG002 - its signature
        """The name again: that is what a shape inside another one is known by."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """The JSON schema; what it refers to becomes components too."""
        whole: dict[str, Any] = self.target.model_json_schema(
            ref_template=_REFERENCE,
            mode="validation" if direction == "request" else "serialization",
        )
        for name, part in whole.pop("$defs", {}).items():
            auto_schema.registry.register_on_missing(
                ResolvedComponent(
                    name=name,
                    type=ResolvedComponent.SCHEMA,
                    object=name,
                    schema=_without_defaults(part),
                )
            )
        return _without_defaults(whole)


class BearerKeyExtension(OpenApiAuthenticationExtension):
    """How to present a key."""

    target_class = "notifications.api.authentication.BearerKey"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - its signature
        """HTTP bearer."""
        return {"type": "http", "scheme": "bearer", "description": "`nk_live_...` or `nk_test_...`"}


def describe_problems(
    result: dict[str, Any],
    **_context: object,
) -> dict[str, Any]:
    """Post-processing hook: add to each operation the problems that it can answer."""
    components = result["components"]
    components["responses"] = {kind.name: _described(kind) for kind in Kind}
    components["headers"] = {
        name: {"description": said, "schema": {"type": "string"}} for name, said in _HEADERS.items()
    }
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for kind in _possible(path, method, operation):
                reference = {"$ref": f"#/components/responses/{kind.name}"}
                operation["responses"].setdefault(str(int(kind.status)), reference)
            for response in operation["responses"].values():
                if "$ref" not in response:
                    response["headers"] = _headers(operation)
    return result


def _headers(operation: dict[str, Any]) -> dict[str, Any]:
    """The headers of an operation's success."""
    names = ["X-Request-Id"]
    if any(operation.get("security", [])):
        names += ["RateLimit", "RateLimit-Policy"]
    if IDEMPOTENCY_KEY.name in {each["name"] for each in operation.get("parameters", [])}:
        names.append("Idempotent-Replayed")
    if {"If-Match", "If-None-Match"} & {each["name"] for each in operation.get("parameters", [])}:
        names.append("ETag")
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _described(kind: Kind) -> dict[str, Any]:
    title, cure = problems.CURES[kind]
    problem = {"$ref": _REFERENCE.format(model=ProblemDetails.__name__)}
    names = ["X-Request-Id"]
    if kind in _COMES_BACK:
        names.append("Retry-After")
    return {
        "description": f"{title}. {cure}",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {problems.MEDIA_TYPE: {"schema": problem}},
    }


def _possible(path: str, method: str, operation: dict[str, Any]) -> Iterator[Kind]:
    """The problems of an operation, by what it takes; the first of a status describes it."""
    has_body, has_key = "requestBody" in operation, any(operation.get("security", []))
    taken = operation.get("parameters", [])
    yield from (Kind.MALFORMED, Kind.NOT_ACCEPTABLE, Kind.UNAVAILABLE, Kind.UNAUTHENTICATED)
    yield Kind.RATE_LIMITED  # of the producer, or of an address without a valid key
    if "{" in path:
        yield Kind.NOT_FOUND
    if has_body:
        yield Kind.TOO_LARGE
    if has_key:
        yield from _possible_with_key(taken, has_body=has_body)
    changes_versions = path.endswith(("/publish", "/rollback"))
    if changes_versions or (method, "/".join(path.split("/")[:3])) in _CAN_CONFLICT:
        yield Kind.CONFLICT


def _possible_with_key(taken: Sequence[dict[str, Any]], *, has_body: bool) -> Iterator[Kind]:
    yield Kind.FORBIDDEN
    if has_body:
        yield Kind.UNSUPPORTED_MEDIA_TYPE
    if has_body or any(parameter["in"] != "path" for parameter in taken):
        yield Kind.INVALID
    if any(parameter["name"] == IDEMPOTENCY_KEY.name for parameter in taken):
        yield Kind.IN_PROGRESS
    if any(parameter["name"] == "If-Match" for parameter in taken):
        yield Kind.PRECONDITION_FAILED


@functools.cache
def document() -> dict[str, Any]:
    """Made once: it depends on nothing but the code."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


class Schema(OpenDoor):
    """The document."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """OpenAPI 3.1 as JSON."""
        return Response(document())


class Docs(SpectacularSwaggerSplitView):
    """The document to read and try, with every script and style from our own static files."""

    url_name = "schema"
