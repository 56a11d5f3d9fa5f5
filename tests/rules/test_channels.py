"""Which contacts a notification goes to."""

from __future__ import annotations

import pytest

from notifications.core.rules.channels import RecipientContacts, Spread, Target, targets
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from providers.contract import Channel

_MARIA = RecipientContacts(
    recipient_id=1,
    contacts={Channel.PUSH: [11, 12], Channel.SMS: [21], Channel.EMAIL: [31, 32]},
)


def _targets(reach: RecipientContacts = _MARIA, **options: object) -> list[Target]:
    said: dict[str, object] = {
        "wanted": [],
        "spread": Spread.FIRST,
        "topics": ["", "LIKE"],
        "priority": Priority.P2,
    }
    return targets(reach, **(said | options))  # type: ignore[arg-type]  # a test's shorthand


def test_every_device_gets_a_push_and_elsewhere_the_primary_contact_alone() -> None:
    assert _targets() == [Target(Channel.PUSH, 11), Target(Channel.PUSH, 12)]
    assert _targets(wanted=[Channel.EMAIL]) == [Target(Channel.EMAIL, 31)]


def test_the_first_channel_that_works_is_taken() -> None:
    reach = RecipientContacts(
        recipient_id=1, contacts={Channel.SMS: [21]}, channels_off=frozenset()
    )
    assert _targets(reach, wanted=[Channel.PUSH, Channel.SMS]) == [Target(Channel.SMS, 21)]


def test_a_channel_that_is_off_goes_straight_to_the_next() -> None:
    reach = RecipientContacts(
        recipient_id=1, contacts=_MARIA.contacts, channels_off=frozenset({Channel.PUSH})
    )
    assert _targets(reach) == [Target(Channel.SMS, 21)]


def test_all_takes_each_channel_and_says_why_not() -> None:
    reach = RecipientContacts(
        recipient_id=1, contacts={Channel.SMS: [21]}, channels_off=frozenset({Channel.EMAIL})
    )
    wanted = [Channel.PUSH, Channel.SMS, Channel.EMAIL]
    assert _targets(reach, wanted=wanted, spread=Spread.ALL) == [
        Target(Channel.PUSH, None, Reason.NO_CONTACT),
        Target(Channel.SMS, 21),
        Target(Channel.EMAIL, None, Reason.OPTED_OUT),
    ]


@pytest.mark.parametrize("off", ["marketing", "SALE"])
@pytest.mark.parametrize("priority", Priority)
def test_a_category_or_a_type_stops_everything_but_security(off: str, priority: Priority) -> None:
    reach = RecipientContacts(
        recipient_id=1, contacts=_MARIA.contacts, categories_off=frozenset({off})
    )
    found = _targets(reach, topics=["marketing", "SALE"], priority=priority)
    assert (found[0].stop is Reason.OPTED_OUT) is (priority is not Priority.P0)


def test_security_never_passes_a_channel_that_is_off() -> None:
    off = RecipientContacts(
        recipient_id=1, contacts={Channel.SMS: [21]}, channels_off=frozenset({Channel.SMS})
    )
    found = _targets(off, wanted=[Channel.SMS], priority=Priority.P0)
    assert found == [Target(Channel.SMS, None, Reason.OPTED_OUT)]


def test_somebody_who_cannot_be_reached_still_leaves_one_line() -> None:
    assert _targets(RecipientContacts(recipient_id=1)) == [
        Target(Channel.PUSH, None, Reason.NO_CONTACT)
    ]
