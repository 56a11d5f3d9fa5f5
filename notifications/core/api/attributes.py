"""`/v1/attributes`: definitions of the attributes of recipients, for both modes."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final

from django.db.models import QuerySet
from pydantic import Field, TypeAdapter, ValidationError
from rest_framework.response import Response

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Attribute
from notifications.core.rules.access import BOTH, LIVE
from notifications.core.rules.attributes import (
    BUILT_IN,
    MAX_ATTRIBUTES,
    NAME_PATTERN,
    AttributeKind,
)
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Text
from notifications.core.rules.scopes import Scope
from notifications.core.store.cached import attributes

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


ATTRIBUTES: Final = Resource(
    noun="attribute",
    path="v1/attributes/<str:name>",
    key="name",
    rows=lambda _call: Attribute.objects.all(),
    answer=AttributeAnswer,
    tag="Recipients",
)


@ATTRIBUTES.list(
    "List the attributes of recipients, newest first",
    Access(Scope.RECIPIENTS_READ, BOTH, "view_recipient"),
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest attributes"),
        "usual": Example("Ten attributes", query={"limit": 10}),
    },
)
def list_attributes(_call: Call, _query: NumberedPageQuery) -> QuerySet[Attribute]:
    """List the definitions, which both modes share."""
    return Attribute.objects.all()


@operation(
    f"PUT {ATTRIBUTES.path}",
    "Define an attribute of recipients",
    Access(Scope.RECIPIENTS_WRITE, LIVE),
    AttributeRequest,
    answers={200: AttributeAnswer, 201: AttributeAnswer},
    tag=ATTRIBUTES.tag,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("A number", status=201, path={"name": "age"}, body={"kind": "number"}),
        "usual": Example(
            "A date with a description",
            status=201,
            path={"name": "seen_on"},
            body={"kind": "date", "description": "Last visit of the shop."},
        ),
    },
)
def define_attribute(call: Call, wanted: AttributeRequest) -> Response:
    """Define an attribute, or change the description.

    Only a defined attribute can be set for a recipient and compared in an audience. The kind of
    an attribute cannot change.
    """
    name = call.path["name"]
    _check_name(name)
    with call.changes(Attribute.objects.filter(name=name)):
        row, is_new = Attribute.objects.update_or_create(
            name=name,
            defaults={"description": wanted.description},
            create_defaults={
                "kind": wanted.kind,
                "description": wanted.description,
                "created_by": call.by,
            },
        )
        # Another call may have defined the attribute meanwhile, so the stored row decides.
        if row.kind != wanted.kind:
            said = f"the attribute {name} has the kind {row.kind}; define another attribute"
            raise_problem(Problem(Kind.CONFLICT, said))
        if is_new and Attribute.objects.count() > MAX_ATTRIBUTES:
            said = f"there are {MAX_ATTRIBUTES} attributes already"
            raise_problem(Problem(Kind.CONFLICT, said))
    attributes.kinds.forget()
    told = AttributeAnswer.model_validate(row).to_json()
    return Response(told, status=201 if is_new else 200)


@ATTRIBUTES.read(
    "Read the definition of an attribute",
    Access(Scope.RECIPIENTS_READ, BOTH, "view_recipient"),
    examples={
        "minimal": Example("An attribute", path={"name": "plan"}),
        "usual": Example("A list of texts", path={"name": "interests"}),
    },
)
def get_attribute(_call: Call, attribute: Attribute) -> Attribute:
    """Return a definition."""
    return attribute


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
