# mypy: allow-untyped-calls
# (drf-spectacular's own functions have no types)
"""The OpenAPI 3.1 document, from the shapes that check the requests, and its pages.

`operations` adds what the document says of each operation besides its shapes.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from types import GenericAlias
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, create_model
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.base_view import OpenDoor
from notifications.api.schemas import Answer, Asked

IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Within 24 hours a call with the same key and body gets the first answer again.",
)
_REFERENCE: Final = "#/components/schemas/{model}"
"""Where a shape stands in the document."""


def parameters(query: type[BaseModel]) -> list[OpenApiParameter]:
    """A query shape as the operation's parameters."""
    whole = query.model_json_schema(ref_template="{model}")
    shapes = whole.get("$defs", {})
    return [
        OpenApiParameter(
            name,
            _plain(field, shapes),
            OpenApiParameter.QUERY,
            description=_in_words(field)["description"],
        )
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
    left = {"title", "$ref", "description", "default"}
    return {key: value for key, value in found.items() if key not in left}


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


@functools.cache
def document() -> dict[str, Any]:
    """Made once: it depends on nothing but the code."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    for shape in (Asked, *_below(Asked)):
        # The generator marks the shapes of PATCH, and a shape that extends one would inherit that.
        if "partial" in vars(shape):
            del shape.partial  # type: ignore[attr-defined]  # the generator's own attribute
    return made


def _below(shape: type[Asked]) -> Iterator[type[Asked]]:
    for each in shape.__subclasses__():
        yield each
        yield from _below(each)


class Schema(OpenDoor):
    """The document."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """OpenAPI 3.1 as JSON."""
        return Response(document())


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The document to read and try, with every script and style from our own static files."""
    return render(request, "api/docs.html", {"url": request.build_absolute_uri("/")[:-1]})
