"""The steps of a series in words."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.features.series.rules import definition, program, wording
from notifications.features.series.rules.definition import Definition

SEND: dict[str, Any] = {"step": "send", "name": "one", "type": "LIKE", "template_id": "hello"}


def _read(*steps: dict[str, Any], **fields: object) -> Definition:
    found = definition.parse({"steps": list(steps), **fields})
    assert isinstance(found, Definition), found
    return found


def _texts(*steps: dict[str, Any]) -> list[str]:
    return [each.text for each in wording.steps(program.compile_definition(_read(*steps)))]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (SEND, "Send LIKE with the template hello."),
        (
            {**SEND, "priority": "P1", "channels": ["email", "sms"], "on_rejected": "exit"},
            "Send LIKE, P1 with the template hello by email, sms; a rejection ends the enrolment.",
        ),
        ({"step": "wait", "days": 1, "minutes": 90}, "Wait 1 day 1 h 30 min."),
        (
            {"step": "wait", "days": 2, "until_local": "09:00", "weekdays": ["mon", "fri"]},
            "Wait 2 days, then until 09:00 of the recipient's clock on Mon, Fri.",
        ),
        (
            {
                "step": "wait",
                "hours": 3,
                "until_event": {"event": "paid", "where": {"plan": "pro", "new": True}},
            },
            "Wait 3 h, or until the event paid with plan = pro and new = true.",
        ),
        (
            {
                "step": "wait",
                "hours": 3,
                "until_event": {"event": "paid", "since": "step"},
            },
            "Wait 3 h, or until the event paid after the beginning of the wait.",
        ),
        ({"step": "exit", "reason": "too late"}, "End the enrolment (too late)."),
        ({"step": "exit"}, "End the enrolment."),
    ],
)
def test_a_step_is_a_sentence(step: dict[str, Any], text: str) -> None:
    assert _texts(step) == [text]


def test_the_steps_of_a_branch_have_their_place() -> None:
    asked = {
        "and": [
            {"message": "one", "status": "read"},
            {"not": {"or": [{"event": "paid"}, {"event": "left", "where": {"at": None}}]}},
        ]
    }
    inner = {"step": "condition", "if": {"event": "paid"}, "then": [{"step": "exit"}]}
    branch = {"step": "condition", "if": asked, "then": [inner], "else": [{**SEND, "name": "two"}]}
    rows = wording.steps(program.compile_definition(_read(SEND, branch)))
    assert [each.number for each in rows] == [
        "1",
        "2",
        "2 then 1",
        "2 then 1 then 1",
        "2 else 1",
    ]
    assert rows[1].text == (
        "If the message one is read, and not (the event paid was posted, or the event left with"
        " at = null was posted):"
    )
    assert wording.number("") == "end"


def test_entry_and_goal_are_sentences() -> None:
    plain = _read(SEND)
    assert (
        wording.entry(plain) == "Calls of the API enrol recipients. A recipient is enrolled once."
    )
    assert wording.goal(plain) == ""
    full = _read(SEND, trigger={"event": "left"}, reentry="after_exit", goal={"event": "paid"})
    assert wording.entry(full) == (
        "The event left enrols the recipient. After the end of an enrolment a recipient is"
        " enrolled again."
    )
    assert wording.goal(full) == "the event paid"
