"""The rows that every benchmark needs before its first request."""

from __future__ import annotations

from django.core.management import call_command
from django.db import connection, connections

from notifications.core import clock
from notifications.core.models import Contact, NotificationType, Producer, Recipient
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import api_keys, partitions
from notifications.core.store.templates import versions
from providers.contract import Channel


def seed(*, people: int, template: str, type_: str) -> str:
    """Migrate and start from nothing; returns the API key of a producer that may do anything."""
    call_command("migrate", verbosity=0)
    with connection.cursor() as running:  # the audit log refuses to be emptied
        running.execute("ALTER TABLE notifications_auditentry DISABLE TRIGGER audit_is_not_emptied")
    call_command("flush", verbosity=0, interactive=False)
    secret = rows(people=people, template=template, type_=type_)
    with connection.cursor() as running:  # a running installation has been analyzed
        running.execute("ANALYZE")
    connections.close_all()
    return secret


def rows(*, people: int, template: str, type_: str) -> str:
    """Make a producer, its people, a type and a template; returns the producer's API key."""
    partitions.ensure(clock.now().date())
    producer = Producer.objects.create(
        name="bench", rate_per_second=10_000_000, rate_burst=10_000_000
    )
    NotificationType.objects.create(name=type_, priority=Priority.P2, category="orders")
    _publish(template)
    recipients = Recipient.objects.bulk_create(
        # Known, so that no P3 waits for the producer's morning.
        Recipient(mode=Mode.LIVE, user_id=f"user-{number}", timezone="UTC")
        for number in range(people)
    )
    Contact.objects.bulk_create(
        Contact(
            recipient=each, channel=Channel.EMAIL, address=f"{each.user_id}@b.test", is_primary=True
        )
        for each in recipients
    )
    Contact.objects.bulk_create(
        Contact(
            recipient=each,
            channel=Channel.PUSH,
            kind="fcm_token",
            address=f"{each.user_id:x>152}",
            is_primary=True,
        )
        for each in recipients
    )
    _, secret = api_keys.issue(producer, mode=Mode.LIVE, scopes=["notifications:*"])
    return secret


def _publish(template: str) -> None:
    words = (
        contents.words(
            channel,
            "en",
            title="{{ name }}, your order {{ order_id }} is ready",
            body="Dear {{ name }},\n\nyour order {{ order_id }} of {{ items|length }} items is"
            " ready.\n{% for item in items %}- {{ item }}\n{% endfor %}\nSee you soon.",
        )
        for channel in (Channel.EMAIL, Channel.PUSH)
    )
    draft = versions.draft(template, contents.content(words), by="bench")
    versions.publish(draft, by="bench")
