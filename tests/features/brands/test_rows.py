"""The brand of a producer, else that of the installation, else the defaults."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from notifications.core.models import Producer
from notifications.core.rules.brand import DEFAULT
from notifications.core.store.cached import brands
from notifications.features.brands import models, rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop() -> Producer:
    return Producer.objects.create(name="shop")


def test_a_producer_without_a_brand_has_that_of_the_installation(shop: Producer) -> None:
    assert brands.of(shop.pk) is brands.of(None) is DEFAULT
    models.Brand.objects.create(name="All")
    rows.forget()
    assert brands.of(shop.pk).name == brands.of(None).name == brands.of(10**12).name == "All"
    models.Brand.objects.create(producer=shop, name="Shop")
    rows.forget()
    assert (brands.of(shop.pk).name, brands.of(None).name) == ("Shop", "All")


def test_a_process_reads_the_table_once_for_all_brands(shop: Producer) -> None:
    models.Brand.objects.create(producer=shop, name="Shop")
    with CaptureQueriesContext(connection) as read:
        for producer_id in (shop.pk, None, 4711):
            brands.of(producer_id)
    assert len(read) == 1


@pytest.mark.parametrize("has_producer", [True, False])
def test_there_is_one_brand_of_a_producer_and_of_the_installation(
    shop: Producer, *, has_producer: bool
) -> None:
    producer = shop if has_producer else None
    models.Brand.objects.create(producer=producer, name="First")
    with pytest.raises(IntegrityError), transaction.atomic():
        models.Brand.objects.create(producer=producer, name="Second")


def test_a_brand_goes_with_its_producer_in_sql_too(shop: Producer) -> None:
    models.Brand.objects.create(producer=shop, name="Shop")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM notifications_producer WHERE id = %s", [shop.pk])
    assert not models.Brand.objects.exists()


def test_a_value_that_another_release_stored_gives_way_to_the_default() -> None:
    row = models.Brand.objects.create(
        name="All", color="#ffffff", font="papyrus", links=[{"label": "Help"}, "x", None]
    )
    found = rows.to_brand(row)
    assert found.links == ()
    assert (found.color, found.variables["font"]) == (DEFAULT.color, DEFAULT.variables["font"])
