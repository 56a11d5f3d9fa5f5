"""Valid definitions of series, as a hypothesis strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from notifications.core.rules.times.quiet_hours import Weekday
from notifications.features.series.rules.conditions import MessageStatus
from notifications.features.series.rules.definition import Definition, parse
from notifications.features.series.rules.states import Reentry
from providers.contract import Channel

_SAFE: Final = 2**53 - 1
"""Largest whole number that a browser keeps exactly."""
_NAMES: Final = st.text("abcXYZ019_.:-", min_size=1, max_size=8)
# A text box of a browser turns each end of line into a line feed, so the texts have no other one.
_TEXTS: Final = st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), max_size=12)
_SCALARS: Final = (
    st.none() | st.booleans() | st.integers(-_SAFE, _SAFE) | st.floats(-1e6, 1e6) | _TEXTS
)
_VALUES: Final = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=2),
    max_leaves=4,
)
_WEEK: Final = list(Weekday)
_EVENTS: Final = st.fixed_dictionaries(
    {"event": _NAMES}, optional={"where": st.dictionaries(_NAMES, _SCALARS, max_size=3)}
)
_WAITS: Final = st.fixed_dictionaries(
    {"step": st.just("wait"), "days": st.integers(1, 300)},
    optional={
        "hours": st.integers(0, 30),
        "minutes": st.integers(0, 30),
        "until_local": st.just("09:00"),
        "until_event": st.builds(
            lambda event, more: event | more,
            _EVENTS,
            st.fixed_dictionaries({}, optional={"since": st.sampled_from(["enrolment", "step"])}),
        ),
    },
)
_WEEKS: Final = st.fixed_dictionaries({
    "step": st.just("wait"),
    "until_local": st.just("18:30"),
    "weekdays": st.lists(st.sampled_from([each.value for each in _WEEK]), unique=True, max_size=7),
})
_EXITS: Final = st.fixed_dictionaries({"step": st.just("exit")}, optional={"reason": _TEXTS})
_SENDS: Final = st.fixed_dictionaries(
    {"step": st.just("send"), "type": _NAMES, "template_id": _NAMES},
    optional={
        "priority": st.none() | st.sampled_from(["P1", "P2", "P3"]),
        "channels": st.lists(
            st.sampled_from([each.label for each in Channel]), unique=True, max_size=4
        ),
        "delivery": st.just("first"),
        "variables": st.dictionaries(_NAMES, _VALUES, max_size=3),
        "ttl_seconds": st.none() | st.integers(1, 9_000),
        "collapse_key": st.none() | st.text("abc", min_size=1, max_size=5),
        "metadata": st.dictionaries(_NAMES, _VALUES, max_size=2),
        "on_rejected": st.sampled_from(["continue", "exit"]),
    },
)


@st.composite
def _conditions(draw: Callable[[Any], Any], sends: list[str], depth: int = 0) -> dict[str, Any]:
    kinds = ["event", *(["message"] if sends else []), *(["and", "or", "not"] * (depth < 2))]
    kind = draw(st.sampled_from(kinds))
    if kind == "event":
        return dict(draw(_EVENTS))
    if kind == "message":
        status = draw(st.sampled_from([each.value for each in MessageStatus]))
        return {"message": draw(st.sampled_from(sends)), "status": status}
    inner = _conditions(sends, depth + 1)
    return {kind: draw(inner if kind == "not" else st.lists(inner, min_size=1, max_size=3))}


@st.composite
def _steps(
    draw: Callable[[Any], Any], sends: list[str], depth: int = 0, least: int = 1
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(least, 3))):
        kind = draw(st.sampled_from(["send", "wait", "exit", *(["condition"] * (depth < 2))]))
        if kind == "send":
            step = draw(_SENDS) | {"name": f"message-{len(sends) + 1}"}
            sends.append(step["name"])
        elif kind == "condition":
            step = {"step": "condition", "if": draw(_conditions(list(sends)))}
            for branch in draw(st.sampled_from([(), ("then",), ("else",), ("then", "else")])):
                step[branch] = draw(_steps(sends, depth + 1, 0))
        else:
            step = draw(_WAITS | _WEEKS) if kind == "wait" else draw(_EXITS)
        found.append(step)
    return found


@st.composite
def definitions(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Draw a definition that the API takes."""
    more = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "description": _TEXTS,
                "trigger": st.none() | _EVENTS,
                "goal": st.none() | _EVENTS,
                "reentry": st.sampled_from([each.value for each in Reentry]),
            },
        )
    )
    made = {**more, "steps": draw(_steps([]))}
    assert isinstance(parse(made), Definition), parse(made)
    return made
