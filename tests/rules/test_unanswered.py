"""What silence means, by channel, priority and what the provider does with repeats."""

from __future__ import annotations

import pytest

from notifications.core.rules.lane import Priority
from notifications.core.rules.unanswered import Answer, answer_for
from providers.contract import Channel, Repeat


@pytest.mark.parametrize("repeat", [Repeat.DEDUPLICATED, Repeat.HIDDEN])
@pytest.mark.parametrize("priority", Priority)
@pytest.mark.parametrize("channel", Channel)
def test_a_repeat_that_nobody_sees_is_sent(
    channel: Channel, priority: Priority, repeat: Repeat
) -> None:
    assert answer_for(channel=channel, priority=priority, repeat=repeat) is Answer.RESEND


@pytest.mark.parametrize("channel", [Channel.SMS, Channel.EMAIL, Channel.CHAT])
@pytest.mark.parametrize(
    ("priority", "answer"),
    [
        (Priority.P0, Answer.RESEND_ONCE),
        (Priority.P1, Answer.RESEND_ONCE),
        (Priority.P2, Answer.WAIT),
        (Priority.P3, Answer.WAIT),
    ],
)
def test_elsewhere_urgency_decides(channel: Channel, priority: Priority, answer: Answer) -> None:
    assert answer_for(channel=channel, priority=priority, repeat=Repeat.VISIBLE) is answer
