"""The list of rejected requests names the producer."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from notifications.core.models import Producer, Rejected

LIST = reverse("admin:notifications_rejected_changelist")


def test_a_rejected_request_has_the_name_of_its_producer(door: Client) -> None:
    producer = Producer.objects.create(name="order-service")
    Rejected.objects.create(producer_id=producer.pk, problem="unknown-type", detail="No such type.")
    page = door.get(LIST).content.decode()
    assert "order-service" in page
    assert "Producer id" not in page
    assert "Select rejected request to view" in page
    Producer.objects.all().delete()
    assert "a deleted producer" in door.get(LIST).content.decode()
