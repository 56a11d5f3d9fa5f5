"""The pages of SMS pumping protection."""

from __future__ import annotations

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.models import AuditEntry, Producer
from notifications.core.store.redis import state
from notifications.features.sms_pumping import counts, policy
from notifications.features.sms_pumping.counts import SmsRequest
from notifications.features.sms_pumping.models import SmsLimits, SmsOverride
from notifications.features.sms_pumping.rules.ceilings import Policy

_LIST = "/admin/notifications/smsoverride/"


@pytest.fixture(autouse=True)
def _attack(db: None) -> None:  # noqa: ARG001 - pytest-django asks by name
    """Count 60 SMS to a prefix; ten are refused."""
    state.client().flushdb()
    policy.forget()
    producer = Producer.objects.create(name="shop")
    requests = []
    for number in (f"+23480312{n:05}" for n in range(60)):
        limits = Policy().of(number, country="NG", producer_id=producer.pk, now=clock.now())
        assert limits is not None
        requests.append(SmsRequest(number.encode(), number, "NG", producer.pk, limits))
    counts.count(requests)


def test_the_list_shows_the_attacked_prefix_with_a_button(admin_client: Client) -> None:
    page = admin_client.get(_LIST).content.decode()
    assert "+2348031" in page
    assert f"{_LIST}add/?ceiling=prefix&amp;value=2348031" in page
    lines = admin_client.get(_LIST).context["traffic"]
    first = lines[0]["line"]
    assert (first.name, first.sms, first.limit, first.refused) == ("2348031", 50, 50, 10)


def test_an_override_is_added_audited_and_applied(admin_client: Client) -> None:
    fields = {"ceiling": "prefix", "value": "2348031", "limit": "", "reason": "launch in Nigeria"}
    answer = admin_client.post(f"{_LIST}add/", fields)
    assert answer.status_code == 302, answer.context["adminform"].errors
    assert AuditEntry.objects.filter(operation="add_smsoverride").exists()
    policy.forget()
    found = policy.current().of("+2348031200000", country="NG", producer_id=1, now=clock.now())
    assert found is not None
    assert found.prefix.floor == -1


@pytest.mark.parametrize(
    ("ceiling", "value"), [("country", "234"), ("prefix", "NG"), ("prefix", "23480312")]
)
def test_a_value_of_another_kind_is_refused(admin_client: Client, ceiling: str, value: str) -> None:
    fields = {"ceiling": ceiling, "value": value, "limit": "", "reason": "x"}
    assert admin_client.post(f"{_LIST}add/", fields).status_code == 200
    assert not SmsOverride.objects.exists()


def test_there_is_one_row_of_limits(admin_client: Client) -> None:
    add = "/admin/notifications/smslimits/add/"
    fields = {
        "address_limit": 5,
        "prefix_floor": 50,
        "country_floor": 100,
        "growth_percent": 300,
        "is_enforced": "on",
    }
    assert admin_client.post(add, fields).status_code == 302
    assert admin_client.get(add).status_code == 403
    assert SmsLimits.objects.get().address_limit == 5


def test_the_countries_of_a_producer_are_edited_and_audited(admin_client: Client) -> None:
    producer = Producer.objects.get(name="shop")
    url = f"/admin/notifications/producer/{producer.pk}/change/"
    fields = {
        "name": "shop",
        "is_active": "on",
        "priorities": ["0", "1"],
        "rate_per_second": "10",
        "rate_burst": "10",
        "timezone": "UTC",
        "day_begins": "08:00",
        "day_ends": "20:00",
        "allowed_origins": "",
    }
    assert admin_client.post(url, {**fields, "sms_countries": "DE, XX"}).status_code == 200
    answer = admin_client.post(url, {**fields, "sms_countries": "de, AT"})
    assert answer.status_code == 302, answer.context["adminform"].errors
    producer.refresh_from_db()
    assert producer.sms_countries == ["AT", "DE"]
    assert "sms_countries" in str(AuditEntry.objects.latest("pk").__dict__)


def test_without_the_state_redis_the_page_says_so(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state._circuit, "rests_until", clock.monotonic() + 60)
    assert "state Redis is away" in admin_client.get(_LIST).content.decode()
