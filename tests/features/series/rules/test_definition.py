"""A definition is checked as a whole, and each fault has a JSON pointer."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core.rules.problems import Problem
from notifications.features.series.rules import definition
from notifications.features.series.rules.definition import Definition

SEND: dict[str, Any] = {
    "step": "send",
    "name": "welcome",
    "type": "WELCOME",
    "template_id": "welcome",
}


def _faults(*steps: object, **fields: object) -> dict[str, str]:
    found = definition.parse({"steps": list(steps), **fields})
    assert isinstance(found, Problem), found
    return {error.pointer: error.detail for error in found.errors}


def _condition(asked: object, **branches: object) -> dict[str, Any]:
    return {"step": "condition", "if": asked, **branches}


def test_a_full_definition_is_read() -> None:
    read = definition.parse({
        "description": "Onboarding",
        "trigger": {"event": "signed_up", "where": {"plan": "pro"}},
        "reentry": "after_exit",
        "goal": {"event": "order_paid"},
        "steps": [
            {**SEND, "priority": "P2", "channels": ["email"], "variables": {"a": 1}},
            {"step": "wait", "days": 2, "until_local": "09:00", "weekdays": ["mon", "tue"]},
            {"step": "wait", "hours": 1, "until_event": {"event": "login", "since": "step"}},
            _condition(
                {"and": [{"message": "welcome", "status": "read"}, {"not": {"event": "x"}}]},
                then=[{**SEND, "name": "tips"}],
                **{"else": [{"step": "exit", "reason": "not interested"}]},
            ),
        ],
    })
    assert isinstance(read, Definition), read


@pytest.mark.parametrize(
    ("step", "pointer", "said"),
    [
        ({"step": "sleep"}, "/steps/0", "send, wait, condition, exit"),
        ("wait", "/steps/0", "send, wait, condition, exit"),
        ({**SEND, "template_id": 5}, "/steps/0/template_id", "must be a string"),
        ({**SEND, "templat": "x"}, "/steps/0/templat", "unknown field"),
        ({**SEND, "channels": ["fax"]}, "/steps/0/channels/0", "must be one of"),
        (
            {**SEND, "channels": ["sms"], "fallback_chain": True},
            "/steps/0/fallback_chain",
            "second",
        ),
        ({**SEND, "ttl_seconds": 0}, "/steps/0/ttl_seconds", "at least 1"),
        ({"step": "send", "name": "x", "type": "T"}, "/steps/0/template_id", "required"),
        ({"step": "wait"}, "/steps/0/days", "give days"),
        ({"step": "wait", "days": True}, "/steps/0/days", "whole number"),
        ({"step": "wait", "days": 400}, "/steps/0/days", "at most 366 days"),
        ({"step": "wait", "until_local": "9"}, "/steps/0/until_local", "09:00"),
        ({"step": "wait", "days": 1, "weekdays": ["mon"]}, "/steps/0/weekdays", "until_local"),
        (_condition({"event": 3}), "/steps/0/if/event", "must be a string"),
        (_condition({}), "/steps/0/if", "message, event, and, or, not"),
        (_condition({"and": [{"event": "x"}, {"or": []}]}), "/steps/0/if/and/1/or", "empty"),
        (_condition({"not": {"not": {"what": 1}}}), "/steps/0/if/not/not", "one of the fields"),
        (
            _condition({"event": "x", "where": {"a": [1]}}),
            "/steps/0/if/where/a",
            "must be a string, a number",
        ),
        (
            _condition({"event": "x"}, then=[{"step": "wait", "hours": -1}]),
            "/steps/0/then/0/hours",
            "at least 0",
        ),
        (
            _condition({"event": "x"}, **{"else": [{"step": "nap"}]}),
            "/steps/0/else/0",
            "send, wait, condition, exit",
        ),
        (
            _condition({"message": "welcom", "status": "read"}),
            "/steps/1/if/message",
            "did you mean welcome?",
        ),
        ({**SEND}, "/steps/1/name", "another step has this name"),
    ],
)
def test_a_fault_has_its_place(step: object, pointer: str, said: str) -> None:
    steps = [SEND, step] if pointer.startswith("/steps/1") else [step]
    faults = _faults(*steps)
    assert list(faults) == [pointer]
    assert said in faults[pointer]


def test_a_message_of_a_later_step_is_unknown() -> None:
    asked = _condition({"message": "welcome", "status": "read"})
    assert "/steps/0/if/message" in _faults(asked, SEND)


def test_the_size_and_depth_of_a_definition_are_limited() -> None:
    many = [{"step": "wait", "days": 1}] * 101
    assert "at most 100 steps" in _faults(*many)["/steps"]
    deep: dict[str, Any] = {"step": "exit"}
    for _ in range(6):
        deep = _condition({"event": "x"}, then=[deep])
    assert "nest at most 5" in next(iter(_faults(deep).values()))
    nested: dict[str, Any] = {"event": "x"}
    for _ in range(400):
        nested = {"not": nested}
    found = definition.parse({"steps": [_condition(nested)]})
    assert isinstance(found, Problem)
    assert "nests more than" in found.detail
    assert "may take" in _faults(SEND, description="x" * 70_000).popitem()[1]


def test_any_json_value_is_answered() -> None:
    values: list[Any] = [None, [], "x", 3, {}, {"steps": []}, {"steps": None}, {"steps": [[]]}]
    for value in values:
        assert isinstance(definition.parse(value), Problem), value
