"""What a check of a shape finds is told in the API's words, with a pointer to its place."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails
from pydantic_core._pydantic_core import list_all_errors

from notifications.core.rules import request_faults
from notifications.core.rules.problems import Source

PYTHON: Final = re.compile(
    r"pydantic|instance of|dictionary|Input should|Extra inputs|NoneType|\bdict\b|\bstr\b|\bint\b"
    r"|validat|\^|\[A-Z|_Envelope|[a-z]Request\b|Value error",
    re.IGNORECASE,
)
"""Words of Python and of pydantic, and the signs of regular expressions."""
_OF_A_SCHEMA: Final = {"custom_error", "default_factory_not_called"}
"""Kinds that only a mistake in our own code makes."""


class _Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str = ""


def _same(value: str) -> str:
    return value


class _Lengths(BaseModel):
    key: Annotated[
        Annotated[str, BeforeValidator(_same)], StringConstraints(min_length=2, max_length=3)
    ]
    names: Annotated[list[str], Field(max_length=1)]


class _Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    priority: str = ""
    inner: list[_Inner] | None = None
    names: dict[Annotated[str, Field(pattern="^[a-z]+$")], Any] = {}


def _problem(value: object) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(value)
    problem = request_faults.invalid(caught.value, _Outer)
    return {error.pointer: error.detail for error in problem.errors}


@pytest.mark.parametrize(
    "known", [each for each in list_all_errors() if each["type"] not in _OF_A_SCHEMA]
)
def test_no_kind_of_finding_is_told_in_words_of_python(known: dict[str, Any]) -> None:
    context = known.get("example_context") or {}
    details = InitErrorDetails(type=known["type"], ctx=context, loc=("place",), input=None)
    error = ValidationError.from_exception_data("_Outer", [details])
    problem = request_faults.invalid(error)
    assert problem.errors[0].pointer == "/place"
    assert not PYTHON.search(problem.detail), problem.detail


def test_a_misspelt_field_names_what_it_may_mean_at_any_depth() -> None:
    assert _problem({"proirity": 1, "inner": [{"titel": ""}], "surprise": 1}) == {
        "/proirity": "unknown field; did you mean priority?",
        "/inner/0/titel": "unknown field; did you mean title?",
        "/surprise": "unknown field",
    }


def test_a_key_of_an_object_is_pointed_at() -> None:
    assert list(_problem({"names": {"A~/": 1}})) == ["/names/A~0~1"]


def test_a_hundred_errors_are_listed_and_the_others_are_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate({f"x{number}": 1 for number in range(1_000)})
    problem = request_faults.invalid(caught.value, _Outer)
    assert len(problem.errors) == 100
    assert "1000 errors" in problem.detail


def test_a_name_as_long_as_a_body_is_cut() -> None:
    assert len(next(iter(_problem({"x" * 100_000: 1})))) < 300


def test_an_error_of_a_query_says_so() -> None:
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate({"x": 1})
    [error] = request_faults.invalid(caught.value, source=Source.QUERY).errors
    assert (error.source, error.pointer) == (Source.QUERY, "/x")


def test_a_validator_places_its_error_below_its_own_place() -> None:
    class Checked(BaseModel):
        inner: dict[str, Any]

        @model_validator(mode="after")
        def _refuse(self) -> Checked:
            raise request_faults.error_at("is {wrong}", "inner", "a", 0)

    with pytest.raises(ValidationError) as caught:
        Checked.model_validate({"inner": {}})
    [error] = request_faults.invalid(caught.value).errors
    assert (error.pointer, error.detail) == ("/inner/a/0", "is {wrong}")


@pytest.mark.parametrize(
    ("key", "said"),
    [("abcd", "must have at most 3 characters"), ("a", "must have at least 2 characters")],
)
def test_the_length_of_a_text_with_a_validator_is_in_characters(key: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Lengths.model_validate({"key": key, "names": ["a", "b"]})
    errors = request_faults.invalid(caught.value, _Lengths).errors
    assert [each.detail for each in errors] == [said, "must have at most 1 items"]
