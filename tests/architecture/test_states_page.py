"""The pages about statuses and reasons are complete."""

from __future__ import annotations

import re
from itertools import takewhile

from notifications.core.rules.reasons import Reason
from tests.architecture import states_page


def test_the_page_is_up_to_date() -> None:
    hint = "run: python -m tests.architecture.states_page"
    assert states_page.PAGE.read_text() == states_page.text(), hint


def test_a_page_tells_what_ends_each_hold() -> None:
    page = states_page.PAGE.with_name("message-not-there.md").read_text()
    waits = page.partition("## The message waits")[2].partition("\n## ")[0]
    told = {
        name for row in re.findall(r"(?m)^\| (`.*?) \|", waits) for name in row.split("`")[1::2]
    }
    holds = [str(each) for each in takewhile(lambda each: each is not Reason.RELEASED, Reason)]
    assert len(holds) > 15
    assert [each for each in holds if each not in told] == []
