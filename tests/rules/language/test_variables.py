"""A variable is what its template declared, or the producer is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.language import variables
from notifications.core.rules.language.variables import MalformedDeclaration, Type, Variable

TOTAL = {"amount": "9.90", "currency": "EUR"}
GOOD: dict[Type, list[object]] = {
    Type.STRING: ["", "x"],
    Type.INTEGER: [0, -5, 10**30],
    Type.NUMBER: [0, 1.5],
    Type.BOOLEAN: [True, False],
    Type.DATETIME: ["2026-03-01T09:30:00Z", "2026-03-01T09:30:00+05:30"],
    Type.DATE: ["2026-03-01"],
    Type.MONEY: [TOTAL, {"amount": 5, "currency": "JPY"}],
    Type.LIST: [[], [1]],
    Type.OBJECT: [{}, {"a": 1}],
}
BAD: dict[Type, list[object]] = {
    Type.STRING: [5, True, [], {}],
    Type.INTEGER: ["5", 1.5, True, []],
    Type.NUMBER: ["5", False, {}],
    Type.BOOLEAN: [0, "true"],
    Type.DATETIME: ["2026-03-01T09:30:00", "2026-03-01", "noon", 5, "2026-13-01T00:00:00Z"],
    Type.DATE: ["2026-02-30", "2026-03-01T09:30:00Z", 20260301],
    Type.MONEY: ["9.90", 5, {"amount": "x", "currency": "EUR"}, {**TOTAL, "currency": "euro"}],
    Type.LIST: ["abc", {}],
    Type.OBJECT: [[], "abc"],
}


@pytest.mark.parametrize("type_", Type)
def test_each_type_takes_its_own_and_nothing_else(type_: Type) -> None:
    declared = [Variable(name="x", type=type_)]
    for value in GOOD[type_]:
        assert not list(variables.mistakes(declared, {"x": value})), value
    for value in BAD[type_]:
        assert [name for name, _ in variables.mistakes(declared, {"x": value})] == ["x"], value


def test_a_required_variable_must_be_there_and_an_optional_one_need_not() -> None:
    declared = [
        Variable(name="a", type=Type.STRING),
        Variable(name="b", type=Type.STRING, required=False),
    ]
    told = list(variables.mistakes(declared, {"other": 1}))
    assert told == [("a", "the template requires this variable, and it is missing")]
    assert list(variables.mistakes(declared, {"a": None, "b": None})) == [
        ("a", "the template requires this variable, and it is null")
    ]


@given(
    st.sampled_from(Type),
    st.recursive(st.text() | st.floats() | st.integers(), st.lists, max_leaves=3),
)
def test_no_mistake_quotes_the_value(type_: Type, value: object) -> None:
    found = variables.mistakes([Variable(name="x", type=type_)], {"x": value})
    fixed = {*variables._SHOWN.values(), "a string", "true or false", "a list", "an object"}
    assert all(
        fault.removeprefix("must be ") in fixed | {"an integer", "a number"} for _, fault in found
    )


def test_declarations_are_read_as_they_are_written() -> None:
    stored = [{"name": "total", "type": "money", "example": TOTAL}]
    [total] = variables.parse_declarations(stored)
    assert total == Variable(name="total", type=Type.MONEY, example=TOTAL)
    assert variables.examples([total]) == {"total": TOTAL}


@pytest.mark.parametrize(
    ("stored", "word"),
    [
        ({}, "list"),
        ([5], "name and a type"),
        ([{"name": "a"}], "name and a type"),
        ([{"name": "a", "type": "string", "exmple": "x"}], "name and a type"),
        ([{"name": "_a", "type": "string"}], "begins with a letter"),
        ([{"name": "order-id", "type": "string"}], "letters"),
        ([{"name": "unsubscribe_url", "type": "string", "example": "x"}], "has it by itself"),
        ([{"name": "a", "type": "text"}], "one of string"),
        ([{"name": "a", "type": []}], "one of string"),
        ([{"name": "a", "type": "string", "required": "yes"}], "true or false"),
        ([{"name": "a", "type": "string"}], "has an example"),
        ([{"name": "a", "type": "integer", "example": "5"}], "its example must be an integer"),
        ([{"name": "a", "type": "string", "example": "x"}] * 2, "once"),
        ([{"name": "a", "type": "string", "example": "x"}] * 101, "at most"),
    ],
)
def test_a_malformed_declaration_is_refused_with_a_reason(stored: object, word: str) -> None:
    with pytest.raises(MalformedDeclaration, match=word):
        variables.parse_declarations(stored)


def test_a_source_may_not_need_what_nobody_has_to_send() -> None:
    declared = [
        Variable(name="a", type=Type.STRING),
        Variable(name="b", type=Type.STRING, required=False),
    ]
    assert variables.missing_declarations(declared, {"a", "b", "c"}) == ["b", "c"]
