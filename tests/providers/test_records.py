"""Records are values, and the type checker keeps them as they are."""

from __future__ import annotations

from dataclasses import replace

from providers.contract import Accepted


def test_a_record_is_a_value() -> None:
    one = Accepted(message_id="a")
    assert replace(one, message_id="b") == Accepted(message_id="b")
    assert len({one, Accepted(message_id="a")}) == 1
    assert not hasattr(one, "__dict__")


def test_the_type_checker_alone_refuses_an_assignment() -> None:
    one = Accepted(message_id="a")
    one.message_id = "b"  # type: ignore[misc] # unused, and so an error, if mypy took the line
    assert one.message_id == "b"
