"""The language of audience expressions: faults have pointers, and the stored form parses again."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.attributes import AttributeKind
from notifications.features.audiences.rules import canonical, nodes
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.parse import parse

KINDS = {
    "plan": AttributeKind.TEXT,
    "age": AttributeKind.NUMBER,
    "vip": AttributeKind.BOOLEAN,
    "seen_on": AttributeKind.DATE,
    "tags": AttributeKind.LIST,
}
EVERYONE = {"everyone": True}


def nest(levels: int) -> Any:  # noqa: ANN401 - JSON
    expression: Any = EVERYONE
    for _ in range(levels):
        expression = {"not": expression}
    return expression


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        (None, "", "must be an object"),
        ([], "", "must be an object"),
        ({}, "", "must be an object"),
        ({"everyone": 1}, "/everyone", "must be true"),
        ({"evryone": True}, "/evryone", "did you mean everyone"),
        ({"topic": "a", "everyone": True}, "", "several conditions"),
        (
            {"atribute": "plan", "is": "pro"},
            "/atribute",
            "unknown condition; did you mean attribute?",
        ),
        ({"topic": "a", "everyon": True}, "/everyon", "did you mean everyone?"),
        ({"and": [{"atribute": "plan", "is": 1}]}, "/and/0/atribute", "did you mean attribute?"),
        ({"user_ids": []}, "/user_ids", "at least one"),
        ({"user_ids": ["a", 7]}, "/user_ids/1", "must be a text"),
        ({"user_ids": ["a"] * 10_001}, "/user_ids", "upload a file"),
        ({"topic": ""}, "/topic", "must be a text"),
        ({"topic": "a\0"}, "/topic", "must be a text"),
        ({"upload": "7"}, "/upload", "must be an id"),
        ({"upload": True}, "/upload", "must be an id"),
        ({"upload": 2**63}, "/upload", "must be an id"),
        ({"reachable": "fax"}, "/reachable", "must be one of push"),
        ({"reachable": ["push"]}, "/reachable", "must be one of push"),
        ({"and": []}, "/and", "at least one"),
        ({"and": EVERYONE}, "/and", "must be a list"),
        ({"or": [EVERYONE, {"not": {"topic": 1}}]}, "/or/1/not/topic", "must be a text"),
        ({"attribute": "plan"}, "", "give exactly one of"),
        ({"attribute": "plan", "is": "a", "in": ["b"]}, "", "give exactly one of"),
        ({"attribute": 1, "is": "a"}, "/attribute", "name of an attribute"),
        ({"attribute": "plan", "at_leest": 1}, "/at_leest", "did you mean at_least"),
        ({"attribute": "plam", "is": "a"}, "/attribute", "did you mean plan"),
        ({"attribute": "plan", "is": 7}, "/is", "must be a text"),
        ({"attribute": "plan", "at_least": 1}, "/at_least", "takes is, in, exists"),
        ({"attribute": "plan", "in": ["a", None]}, "/in/1", "must be a text"),
        ({"attribute": "plan", "in": ["a"] * 501}, "/in", "at most 500"),
        ({"attribute": "age", "at_least": "7"}, "/at_least", "must be a number"),
        ({"attribute": "age", "at_most": True}, "/at_most", "must be a number"),
        ({"attribute": "age", "at_most": 1e300}, "/at_most", "must be a number"),
        ({"attribute": "vip", "is": "yes"}, "/is", "must be true or false"),
        ({"attribute": "vip", "exists": 1}, "/exists", "must be true or false"),
        ({"attribute": "seen_on", "before": "soon"}, "/before", "must be a date"),
        ({"attribute": "seen_on", "before": "2026-11-21T09:00:00"}, "/before", "must be a date"),
        ({"attribute": "seen_on", "after": {"days": 3}}, "/after", "days_ago or days_ahead"),
        ({"attribute": "seen_on", "after": {"days_ago": -1}}, "/after/days_ago", "from 0 to"),
        ({"attribute": "tags", "is": "a"}, "/is", "takes contains, exists"),
        ({"attribute": "locale", "at_least": 1}, "/at_least", "locale takes is, in"),
        ({"attribute": "created_at", "is": "2026-01-01"}, "/is", "takes before, after"),
        ({"received": {}}, "/received", "either type or bulk_job"),
        ({"received": {"type": "A", "bulk_job": "x"}}, "/received", "either type or bulk_job"),
        ({"received": {"bulk_job": "x"}}, "/received/bulk_job", "id of a bulk job"),
        ({"received": {"type": "A", "within_days": 91}}, "/received/within_days", "1 to 90"),
        ({"received": {"type": "A", "days": 3}}, "/received/days", "unknown field"),
        (nest(12), "/not" * 12, "nested too deeply"),
        ({"and": [EVERYONE] * 100}, "/and/99", "at most 100 conditions"),
    ],
)
def test_a_fault_has_its_place(value: Any, pointer: str, words: str) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(ExpressionError) as refused:
        parse(value, kinds=KINDS)
    assert refused.value.error.pointer == pointer
    assert words in refused.value.error.detail


def test_the_deepest_and_the_widest_expression_are_accepted() -> None:
    assert nodes.depth_of(parse(nest(11))) == 12
    assert len(list(nodes.walk(parse({"and": [EVERYONE] * 99})))) == 100


def test_dates_have_one_spelling() -> None:
    def stored(value: str) -> Any:  # noqa: ANN401 - JSON
        return canonical.to_json(parse({"attribute": "seen_on", "is": value}, kinds=KINDS))["is"]

    assert stored("20261121") == "2026-11-21"
    assert stored("2026-11-21T10:30:00.75+01:00") == "2026-11-21T09:30:00Z"


_TEXTS = st.text(min_size=1, max_size=8).filter(lambda text: "\0" not in text)
_CONDITIONS = st.one_of(
    st.just(EVERYONE),
    st.builds(lambda ids: {"user_ids": ids}, st.lists(_TEXTS, min_size=1, max_size=3)),
    st.builds(lambda text: {"topic": text}, _TEXTS),
    st.builds(lambda number: {"upload": number}, st.integers(1, 2**63 - 1)),
    st.builds(lambda number: {"snapshot": number}, st.integers(1, 2**63 - 1)),
    st.builds(lambda text: {"audience": text}, _TEXTS),
    st.builds(lambda text: {"attribute": "plan", "is": text}, _TEXTS),
    st.builds(lambda texts: {"attribute": "plan", "in": texts}, st.lists(_TEXTS, min_size=1)),
    st.builds(lambda number: {"attribute": "age", "at_least": number}, st.integers(-9, 9)),
    st.builds(lambda is_so: {"attribute": "vip", "is": is_so}, st.booleans()),
    st.builds(lambda text: {"attribute": "tags", "contains": text}, _TEXTS),
    st.builds(lambda text: {"attribute": "timezone", "is": text}, _TEXTS),
    st.builds(lambda day: {"attribute": "seen_on", "after": day.isoformat()}, st.dates()),
    st.builds(
        lambda days: {"attribute": "created_at", "before": {"days_ago": days}}, st.integers(0, 99)
    ),
    st.just({"reachable": "sms"}),
    st.builds(lambda days: {"received": {"type": "A", "within_days": days}}, st.integers(1, 90)),
)
_EXPRESSIONS = st.recursive(
    _CONDITIONS,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"and": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"or": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=8,
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([
                "and",
                "or",
                "not",
                "attribute",
                "is",
                "in",
                "received",
                "topic",
                "x",
            ]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(_EXPRESSIONS)
def test_the_stored_form_is_the_same_expression(value: Any) -> None:  # noqa: ANN401 - JSON
    expression = parse(value, kinds=KINDS)
    assert parse(canonical.to_json(expression)) == expression


@given(_JSON)
def test_any_json_is_an_expression_or_a_fault(value: Any) -> None:  # noqa: ANN401 - JSON
    with contextlib.suppress(ExpressionError):
        parse(value, kinds=KINDS)
