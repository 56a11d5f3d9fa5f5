"""The link to the preference page in the text of an e-mail."""

from __future__ import annotations

from notifications.core import clock
from notifications.core.delivery import batch, preference_links, render
from notifications.core.delivery.render import Lookups
from notifications.core.models import Template, TemplateText
from notifications.core.store.postgres import claims
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

OWN = {"preferences_url": "https://own"}


def test_each_mail_has_the_link_and_another_channel_has_none(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@example.com", sms="+15551234567")
    made = Template.objects.create(template_id="news")
    for channel in (Channel.EMAIL, Channel.SMS):
        TemplateText.objects.create(template=made, channel=channel, body="S {{ preferences_url }}")
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    cases: list[tuple[str, dict[str, str]]] = [("P1", {}), ("P3", {}), ("P3", OWN)]
    for priority, own in cases:
        body: dict[str, object] = {"template_id": "news", "variables": own, "priority": priority}
        [mail, sms] = deliveries_of(take(**body, channels=["email", "sms"], delivery="all"))
        claim = claims.claim([mail.pk, sms.pk], now=clock.now())
        ready = {each.delivery.channel: each for each in batch.load(claim).deliveries}
        lookups = Lookups(ready.values(), now=clock.now())
        bodies = {
            channel: render.message(each, lookups).body.removeprefix("S").strip()
            for channel, each in ready.items()
        }
        if own:
            assert bodies[Channel.EMAIL] == "https://own"
            continue
        token = bodies[Channel.EMAIL].rpartition("/")[2]
        assert preference_links.read(token, now=clock.now()) == person
        assert bodies[Channel.SMS] == ""
