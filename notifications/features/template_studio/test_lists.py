"""Lists of accounts that get the tests of templates together.

A list is a group of accounts (Groups in the admin) with a name that begins with `test: `. The group
needs no right, and its accounts need no access to the admin. Each account gets the test at its own
address (`test_send.prepare`), so no list leads to a customer.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.contrib.auth.models import Group, User
from django.db.models import Count, Q

from notifications.core import clock
from notifications.core.operations.single_call import CannotSend
from notifications.features.template_studio import test_send
from notifications.features.template_studio.test_send import MarkedText

PREFIX: Final = "test: "
"""Beginning of the names of the groups."""
MOST: Final = 10
"""Accounts of a list."""
_LONGEST: Final = dt.timedelta(seconds=20)
"""No call begins later, because the operator waits for the page."""


def sizes() -> dict[str, int]:
    """Return the lists with an active account: name without `test: ` -> number of accounts."""
    active = Count("user", filter=Q(user__is_active=True))
    groups = Group.objects.filter(name__startswith=PREFIX).annotate(size=active).order_by("name")
    return {group.name.removeprefix(PREFIX): group.size for group in groups if group.size}


def send(name: str, text: MarkedText, *, by: User) -> tuple[bool, str]:
    """Send a text to each account of a list; returns True if all were accepted, and a sentence.

    The sentence names each account that got nothing, with the reason. A list counts as one test of
    the operator.

    Raises:
        CannotSend: the list has no active account or more than MOST, or too many tests.
    """
    members = list(User.objects.filter(groups__name=PREFIX + name, is_active=True).order_by("pk"))
    if not members:
        raise CannotSend(f"The list {name} has no active account.")
    if len(members) > MOST:
        raise CannotSend(f"The list {name} has {len(members)} accounts; a list has at most {MOST}.")
    test_send.take(f"test-list:{by.pk}")
    ends_at = clock.monotonic() + _LONGEST.total_seconds()
    left_out: list[str] = []
    for member in members:
        is_accepted, line = False, "No time was left."
        if clock.monotonic() < ends_at:
            is_accepted, line = _send_to(member, text, by=by)
        if not is_accepted:
            left_out.append(f"{member.get_username()}: {line}")
    accepted = len(members) - len(left_out)
    return not left_out, "\n".join([f"Accepted for {accepted} of {len(members)}.", *left_out])


def _send_to(member: User, text: MarkedText, *, by: User) -> tuple[bool, str]:
    try:
        provider, message = test_send.prepare(member, text)
    except CannotSend as error:
        return False, str(error)
    return test_send.call(provider, message, text, by=by.get_username())
