# mypy: allow-untyped-calls
# (drf-spectacular's own functions have no types)
"""The OpenAPI 3.1 document and the documentation page, from the pydantic schemas of the views.

`operations` adds scopes, problems, headers and examples.
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

from notifications.core.api.base_view import OpenView
from notifications.core.api.schemas import RequestModel, ResponseModel

IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Within 24 hours a call with the same key and body gets the first answer again.",
)
_REFERENCE: Final = "#/components/schemas/{model}"
"""Reference to a component of the document."""


def parameters(query: type[BaseModel]) -> list[OpenApiParameter]:
    """Return the fields of a query schema as parameters of an operation."""
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
    """Return a field's JSON schema without null and references; a parameter is omitted instead.

    Args:
        field: the JSON schema of the field.
        shapes: the referenced schemas by name. Most tools do not resolve references in a parameter.
    """
    choices = [choice for choice in field.get("anyOf", [field]) if choice != {"type": "null"}]
    found = {**shapes.get(choices[0].get("$ref", ""), {}), **choices[0]}
    if "items" in found:
        found["items"] = _plain(found["items"], shapes)
    left = {"title", "$ref", "description", "default"}
    return {key: value for key, value in found.items() if key not in left}


def _without_defaults(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with defaults moved into the descriptions.

    Client generators make a field with a `default` required, because responses always have the
    field. In a request the caller would then have to send the field.
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
def page_of(shape: type[ResponseModel]) -> type[BaseModel]:
    """Return the schema of a page of a list, as `pagination.page` builds the response."""
    results: Any = GenericAlias(list, (shape,))
    return create_model(f"{shape.__name__}Page", results=(results, ...), next=(str | None, ...))


class ShapeExtension(OpenApiSerializerExtension):
    """Extension of drf-spectacular for pydantic models in requests and responses.

    The extension shipped with drf-spectacular describes requests with the schema for serialization,
    in which a field with a default is required.
    """

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:  # noqa: ARG002 - its signature
        """Return the class name."""
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> str:  # noqa: ARG002 - its signature
        """Return the class name, by which nested models are registered."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return the JSON schema; referenced schemas become components."""
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
    """Extension of drf-spectacular for the security scheme of API keys."""

    target_class = "notifications.core.api.authentication.BearerKey"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - its signature
        """Return HTTP bearer authentication."""
        return {"type": "http", "scheme": "bearer", "description": "`nk_live_...` or `nk_test_...`"}


class KeyOrTokenExtension(OpenApiAuthenticationExtension):
    """Extension of drf-spectacular for views that take keys and recipient tokens.

    `operations` lists both schemes of such an operation, by the access table.
    """

    target_class = "notifications.core.api.recipient_access.KeyOrToken"
    name = "recipient_token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - its signature
        """Return HTTP bearer authentication; `operations` adds the description."""
        return {"type": "http", "scheme": "bearer"}


@functools.cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document, cached: the document depends on the code only."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    for shape in (RequestModel, *_below(RequestModel)):
        # The generator sets `partial` on models of PATCH; subclasses would inherit `partial`.
        if "partial" in vars(shape):
            del shape.partial  # type: ignore[attr-defined]  # the generator's own attribute
    return made


def _below(shape: type[RequestModel]) -> Iterator[type[RequestModel]]:
    for each in shape.__subclasses__():
        yield each
        yield from _below(each)


class SchemaView(OpenView):
    """`/v1/schema`: the OpenAPI document."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Return the OpenAPI 3.1 document as JSON."""
        return Response(document())


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Return the interactive documentation.

    All scripts and styles are static files of the service.
    """
    return render(request, "api/docs.html", {"url": request.build_absolute_uri("/")[:-1]})
