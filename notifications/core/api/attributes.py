"""`/v1/attributes`: definitions of the attributes of recipients, for both modes."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from pydantic import Field, TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import actor_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Attribute
from notifications.core.rules.attributes import (
    BUILT_IN,
    MAX_ATTRIBUTES,
    NAME_PATTERN,
    AttributeKind,
)
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Text
from notifications.core.store.cached import attributes
from notifications.core.store.postgres import audit

_NAME = TypeAdapter(Annotated[str, Field(pattern=NAME_PATTERN)])


class AttributeRequest(RequestModel):
    """The definition of an attribute."""

    kind: AttributeKind
    """The type of the values; a definition keeps the kind."""
    description: Annotated[Text, Field(max_length=300)] = ""


class AttributeAnswer(ResponseModel):
    """A defined attribute."""

    name: str
    kind: AttributeKind
    description: str
    created_at: dt.datetime
    created_by: str


class AttributeListView(BaseView):
    """`/v1/attributes`: list definitions."""

    @extend_schema(
        operation_id="list_attributes",
        summary="List the attributes of recipients, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(AttributeAnswer)},
        tags=["Recipients"],
    )
    def get(self, request: Request) -> Response:
        """List the definitions, which both modes share."""
        query = parse_query(request, NumberedPageQuery)
        return newest_page(request, query, Attribute.objects.order_by("-pk"), _to_answer)


class AttributeDetailView(BaseView):
    """`/v1/attributes/{name}`: define and read an attribute."""

    @extend_schema(
        operation_id="define_attribute",
        summary="Define an attribute of recipients",
        request=AttributeRequest,
        responses={200: AttributeAnswer, 201: AttributeAnswer},
        tags=["Recipients"],
    )
    def put(self, request: Request, name: str) -> Response:
        """Define an attribute, or change the description.

        Only a defined attribute can be set for a recipient and compared in an audience. The kind of
        an attribute cannot change.
        """
        wanted, by = parse_body(request.data, AttributeRequest), actor_of(request)
        _check_name(name)
        with transaction.atomic():
            rows = Attribute.objects.select_for_update()
            known = rows.filter(name=name).first()
            if known is None and rows.count() >= MAX_ATTRIBUTES:
                said = f"there are {MAX_ATTRIBUTES} attributes already"
                raise_problem(Problem(Kind.CONFLICT, said))
            if known is not None and known.kind != wanted.kind:
                said = f"the attribute {name} has the kind {known.kind}; define another attribute"
                raise_problem(Problem(Kind.CONFLICT, said))
            with audit.changes(by, "define_attribute", Attribute.objects.filter(name=name)):
                row, _ = Attribute.objects.update_or_create(
                    name=name,
                    defaults={"description": wanted.description},
                    create_defaults={
                        "kind": wanted.kind,
                        "description": wanted.description,
                        "created_by": by,
                    },
                )
        attributes.kinds.forget()
        return Response(_to_answer(row), status=201 if known is None else 200)

    @extend_schema(
        operation_id="get_attribute",
        summary="Read the definition of an attribute",
        responses={200: AttributeAnswer},
        tags=["Recipients"],
    )
    def get(self, request: Request, name: str) -> Response:
        """Return a definition."""
        del request
        row = Attribute.objects.filter(name=name.replace("\0", "")).first()
        if row is None:
            raise_not_found("attribute")
        return Response(_to_answer(row))


def _check_name(name: str) -> None:
    """Check the name of an attribute.

    Raises:
        ProblemError: the name has other characters, or every recipient has the attribute (422).
    """
    try:
        _NAME.validate_python(name)
    except ValidationError:
        said = "the name of an attribute has 1 to 64 letters, digits and the characters _ . -"
        raise_problem(Problem(Kind.INVALID, said, (FieldError("", said),)))
    if name in BUILT_IN:
        said = f"every recipient has the attribute {name}"
        raise_problem(Problem(Kind.INVALID, said, (FieldError("", said),)))


def _to_answer(row: Attribute) -> dict[str, Any]:
    return AttributeAnswer.model_validate(row).to_json()
