"""Figures by country have the deliveries of each channel."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.figures.questions import Question, ask
from notifications.core.intake.accept import Caller
from notifications.core.models import Attempt, Delivery, Recipient
from notifications.core.rules.rollups import Dimension, Step
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of, lapse
from tests.old_days import recount_days

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("outbox")]
_HOUR: Final = dt.timedelta(hours=1)
_ADDRESSES: Final = {
    "push": "device-1",
    "sms": "+4915112345678",
    "email": "maria@sandbox.example",
}


@pytest.fixture(autouse=True)
def _maria(reach: Reach) -> None:
    """Make a recipient with addresses of three channels, and begin to count."""
    rollups.count_next(limit=1)
    reach(**_ADDRESSES)


def _lives(timezone: str = "", locale: str = "en") -> None:
    Recipient.objects.update(timezone=timezone, locale=locale)


def _send(take: Accept, channel: str) -> Delivery:
    content = {"title": "Hello", "body": "Do you come?"}
    wanted = {"template_id": None, "variables": {}, "content": content, "channels": [channel]}
    [row] = deliveries_of(take(**wanted))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert row.status in {Status.SENT, Status.DELIVERED}, row.reason
    return row


def _question(metric: str = "sent", *by: Dimension, **fields: Any) -> Question:  # noqa: ANN401 - fields of the question
    now = clock.now()
    chosen = {"start": now - _HOUR, "end": now + _HOUR, "now": now, **fields}
    return Question(metric=metric, by=by, **chosen)


def _by_country(metric: str = "sent", *by: Dimension, **fields: Any) -> dict[object, float | None]:  # noqa: ANN401 - as above
    """Return the totals, before and after a recount, which must agree."""
    while rollups.count_next(limit=100).more:
        pass
    found = _totals(metric, *by, **fields)
    recount_days()
    assert _totals(metric, *by, **fields) == found
    return found


def _totals(metric: str, *by: Dimension, **fields: Any) -> dict[object, float | None]:  # noqa: ANN401 - as above
    groups = ask(_question(metric, *(by or (Dimension.COUNTRY,)), **fields)).groups
    return {each.key if by else each.key[0]: each.total for each in groups if each.total}


@pytest.mark.parametrize("channel", ["email", "push", "in_app"])
def test_a_delivery_has_the_country_of_the_recipients_timezone(
    channel: str, take: Accept, caller: Caller
) -> None:
    _lives("America/Sao_Paulo")
    row = _send(take, channel)
    assert Attempt.objects.get(delivery_id=row.id).country == "BR"
    assert _by_country() == {"BR": 1}
    assert _by_country("calls", step=Step.HOUR) == {"BR": 1}
    number = int(Channel.from_label(channel))
    assert _by_country("sent", Dimension.CHANNEL, Dimension.COUNTRY) == {(number, "BR"): 1}
    of_producer = {Dimension.COUNTRY: "BR", Dimension.PRODUCER: caller.producer_id}
    assert _by_country(filters=of_producer) == {"BR": 1}


@pytest.mark.parametrize(
    ("timezone", "locale", "country"),
    [("Europe/Kiev", "en", "UA"), ("UTC", "de-AT", "AT"), ("", "pt-BR", "BR"), ("UTC", "en", "")],
)
def test_the_locale_has_the_country_of_a_timezone_without_one(
    timezone: str, locale: str, country: str, take: Accept
) -> None:
    _lives(timezone, locale)
    _send(take, "email")
    assert _by_country() == {country: 1}


def test_an_sms_keeps_the_country_of_its_number(take: Accept) -> None:
    _lives("America/Sao_Paulo", "pt-BR")
    _send(take, "sms")
    _send(take, "email")
    assert _by_country() == {"DE": 1, "BR": 1}
    prices = _by_country("cost", Dimension.COUNTRY, Dimension.CHANNEL)
    assert set(prices) == {("DE", Channel.SMS), ("BR", Channel.EMAIL)}


def test_sms_alone_have_a_country_by_minute_by_provider_and_in_percentiles(take: Accept) -> None:
    _lives("America/Sao_Paulo")
    _send(take, "sms")
    _send(take, "email")
    expected = {"DE": 1, "": 1}
    assert _by_country(step=Step.MINUTE) == expected
    by_provider = _by_country("sent", Dimension.COUNTRY, Dimension.PROVIDER)
    assert by_provider == {("DE", "sandbox"): 1, ("", "sandbox"): 1}
    assert set(_by_country("accept_to_call_p50")) == {"DE", ""}


@pytest.mark.parametrize("channel", ["email", "sms"])
def test_the_call_of_a_dead_worker_has_its_country(channel: str, take: Accept) -> None:
    _lives("America/Sao_Paulo")
    [row] = deliveries_of(take(channels=[channel]))
    Delivery.objects.filter(id=row.id).update(
        status=Status.SENDING,
        provider="sandbox",
        attempts=1,
        claims=1,
        call_started_at=clock.now() - dt.timedelta(minutes=6),
    )
    rescue.rescue([lapse(row.id)])
    call = Attempt.objects.get(delivery_id=row.id)
    assert (call.outcome, call.country) == ("unanswered", "BR" if channel == "email" else "DE")
