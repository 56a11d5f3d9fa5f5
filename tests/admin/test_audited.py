"""A list is filtered by the columns of its filters, and by no other column."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from notifications.core.models import DeadLetter, Recipient, SignIn, Suppression
from providers.contract import Channel

MakeLetters = Callable[..., list[DeadLetter]]

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "lookup",
    [
        "contact/?address__startswith=m",
        "suppression/?address__startswith=m",
        "deadletter/?snapshot__variables__order_id__startswith=O",
        "signin/?session_key__startswith=a",
    ],
)
def test_a_hidden_column_is_no_filter(
    window: Client, maria: Recipient, make_letters: MakeLetters, lookup: str
) -> None:
    make_letters(["rejected"])
    Suppression.objects.create(
        channel=Channel.EMAIL, address="maria@sandbox.example", reason="manual"
    )
    SignIn.objects.update(session_key="a-secret")
    assert maria.contacts.exists()
    assert window.get(f"/admin/notifications/{lookup}").status_code == 400


@pytest.mark.parametrize(
    "lookup",
    ["contact/?channel__exact=1", "contact/?pk__in=1", "signin/?id=1", "alert/?kind__exact=x"],
)
def test_a_filter_and_the_primary_key_select_rows(window: Client, lookup: str) -> None:
    assert window.get(f"/admin/notifications/{lookup}").status_code == 200
