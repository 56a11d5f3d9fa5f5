"""One alert for a cause: the rules of coverage."""

from __future__ import annotations

import pytest

from notifications.core.rules import alert_causes, alerts
from notifications.core.rules.alert_causes import COVERED, OpenAlert
from notifications.core.rules.alerts import AlertKind, Severity

MISCONFIGURED = OpenAlert(1, "provider_misconfigured", "ses email")


@pytest.mark.parametrize(
    ("alert", "is_covered"),
    [
        (OpenAlert(2, "breaker_open", "ses email"), True),
        (OpenAlert(2, "breaker_open", "smtp email"), False),
        (OpenAlert(2, "breaker_open", "ses push"), False),
        (OpenAlert(2, "provider_failing", "ses email"), True),
        (OpenAlert(2, "provider_failing", "ses push"), False),
        (OpenAlert(2, "provider_misconfigured", "ses push"), False),
        (OpenAlert(2, "urgent_dead_letters", ""), False),
    ],
)
def test_a_refused_account_covers_the_alerts_of_its_provider_and_channel(
    alert: OpenAlert, *, is_covered: bool
) -> None:
    expected = {2: 1} if is_covered else {}
    assert alert_causes.causes([alert, MISCONFIGURED]) == expected


def test_a_paused_provider_covers_the_low_rate_of_its_channel() -> None:
    rows = [OpenAlert(1, "breaker_open", "ses email"), OpenAlert(2, "delivery_rate_low", "email")]
    assert alert_causes.causes(rows) == {2: 1}
    rows = [OpenAlert(1, "breaker_open", "ses email"), OpenAlert(2, "delivery_rate_low", "sms")]
    assert alert_causes.causes(rows) == {}


def test_no_rule_leads_back_to_its_kind() -> None:
    for kind in AlertKind:
        seen: set[AlertKind] = set()
        # Within a kind the oldest alert is the cause, so that no two alerts hide each other.
        todo = [rule.cause for rule in COVERED if rule.kind is kind is not rule.cause]
        while todo:
            cause = todo.pop()
            if cause not in seen:
                seen.add(cause)
                todo += [rule.cause for rule in COVERED if rule.kind is cause]
        assert kind not in seen, "two alerts would hide each other"


def test_every_kind_has_words_without_code() -> None:
    for kind in AlertKind:
        assert "_" not in kind.label
        assert kind.label[0].isupper()
        assert kind.severity in Severity


def test_a_kind_of_another_release_is_shown_as_it_is() -> None:
    assert alerts.title("later_kind") == alerts.sentence("later_kind") == "later_kind"
    assert alerts.severity("later_kind") is Severity.TICKET
