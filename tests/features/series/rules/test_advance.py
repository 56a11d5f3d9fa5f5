"""A pass of `advance` stops at the next message, wait or end."""

from __future__ import annotations

import datetime as dt
from typing import Any

from notifications.features.series.rules import advance, definition, program
from notifications.features.series.rules.advance import EnrolmentEnd, Progress
from notifications.features.series.rules.conditions import EventTest, Facts, MessageStatus
from notifications.features.series.rules.definition import Definition
from notifications.features.series.rules.states import EnrolmentState, ExitReason

NOW = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
PAID = EventTest("paid")


def _send(name: str) -> dict[str, Any]:
    return {"step": "send", "name": name, "type": "T", "template_id": "t"}


def _run(
    steps: list[dict[str, Any]],
    *,
    at: str = "/steps/0",
    arrived: dt.datetime = NOW,
    facts: Facts = Facts({}, {}),  # noqa: B008 - it is never changed
    **fields: object,
) -> Progress:
    parsed = definition.parse({"steps": steps, **fields})
    assert isinstance(parsed, Definition), parsed
    progress = Progress(at, arrived, {"name": "Ana"})
    compiled = program.compile_definition(parsed)
    advance.advance(progress, compiled, facts, timezone="", now=NOW)
    return progress


def _condition(**branches: object) -> dict[str, Any]:
    return {"step": "condition", "if": {"event": "paid"}, **branches}


def test_a_branch_leads_to_the_step_after_its_condition() -> None:
    steps = [_condition(then=[_condition()], **{"else": [_send("no")]}), _send("after")]
    yes = _run(steps, facts=Facts({PAID: {}}, {}))
    assert (yes.position, yes.send and yes.send.name) == ("/steps/1", "after")
    assert [each.position for each in yes.passed] == ["/steps/0", "/steps/0/then/0"]
    no = _run(steps)
    assert (no.position, no.send and no.send.name) == ("/steps/0/else/0", "no")


def test_the_end_follows_the_last_step_of_the_last_branch() -> None:
    done = _run([_condition(**{"else": [{"step": "wait", "hours": 1}]})])
    assert (done.position, done.due_at) == ("/steps/0/else/0", NOW + HOUR)
    done = _run(
        [_condition(**{"else": [{"step": "wait", "hours": 1}]})],
        at="/steps/0/else/0",
        arrived=NOW - HOUR,
    )
    assert done.ending == EnrolmentEnd(EnrolmentState.FINISHED)


def test_an_event_ends_a_wait_early_and_adds_its_properties() -> None:
    wait = {"step": "wait", "hours": 1, "until_event": {"event": "paid"}}
    assert _run([wait, _send("x")]).due_at == NOW + HOUR
    early = _run([wait, _send("x")], facts=Facts({PAID: {"amount": 5}}, {}))
    assert early.send is not None
    assert early.context == {"name": "Ana", "amount": 5}


def test_an_event_before_the_wait_counts_only_since_the_enrolment() -> None:
    wait = {"step": "wait", "hours": 1, "until_event": {"event": "paid", "since": "step"}}
    both = Facts({PAID: {}}, {}, {PAID: {}})
    assert _run([wait, wait], facts=both).position == "/steps/1", "the second wait begins now"
    assert _run([wait], facts=Facts({PAID: {}}, {})).due_at == NOW + HOUR


def test_the_goal_comes_before_a_message() -> None:
    done = _run([_send("x")], facts=Facts({PAID: {}}, {}), goal={"event": "paid"})
    assert done.send is None
    assert done.ending == EnrolmentEnd(EnrolmentState.EXITED, ExitReason.GOAL)


def test_a_condition_on_a_message() -> None:
    asked = {"message": "x", "status": "read"}
    steps = [_send("x"), {"step": "condition", "if": asked, "then": [{"step": "exit"}]}]
    read = Facts({}, {"x": frozenset({MessageStatus.READ})})
    ending = _run(steps, at="/steps/1", facts=read).ending
    assert ending == EnrolmentEnd(EnrolmentState.EXITED, ExitReason.STEP)
    assert _run(steps, at="/steps/1").ending == EnrolmentEnd(EnrolmentState.FINISHED)


def test_a_version_listens_to_the_goal_and_to_the_events_of_waits() -> None:
    wait = {"step": "wait", "hours": 1, "until_event": {"event": "paid"}}
    asks = {"step": "condition", "if": {"event": "asked"}}
    parsed = definition.parse({"goal": {"event": "done"}, "steps": [_send("x"), wait, asks]})
    assert isinstance(parsed, Definition)
    assert program.compile_definition(parsed).listens == ["done", "paid"]
