"""Routing: choose the providers of each delivery, in the order of use.

    admin's rows (rules.routing)  ─ no match ─>  NOTIFY_ROUTES  ─ no match ─>  held, with an alert

A provider matches if it is configured and takes the channel, the address, the size of the
attachments and the images of the HTML. Deliveries in test mode go to the sandbox, except for those
to the inbox of a test recipient: a recipient belongs to one mode, so no live inbox shows them. An
in_app contact of a test recipient leads to the sandbox, which its address steers. In a dry run all
other deliveries go to the null provider.

Deliveries of a batch with equal channel, kind and number prefix share one lookup, except on a
channel of which a provider asks for the whole address; weighted routes need a draw for each.
Adapters are built once a process, on first use, because connections must not cross a fork.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from notifications.core import conf, feature
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import addresses, attachments, in_app, routing
from notifications.core.rules.channels import INBOX_KIND
from notifications.core.rules.lane import Mode
from notifications.core.rules.routing import Choice, RoutingRule
from notifications.core.store.cached import provider_overrides
from providers import dry_run, registry
from providers.chat.limits import LIMITS
from providers.contract import Channel, Provider

_NULL: Final = dry_run.DryRun()


@functools.cache
def providers_by_name() -> Mapping[str, Provider]:
    """Return the adapters configured by the environment and those of features, by name."""
    of_features: list[Provider] = [make() for make in feature.functions("providers")]
    return {**registry.build_all(os.environ), **{each.name: each for each in of_features}}


def forget() -> None:
    """Clear the caches of adapters and routes."""
    providers_by_name.cache_clear()
    provider_overrides.forget_routes()


def provider_named(name: str) -> Provider | None:
    """Return the configured adapter or the null provider with a name."""
    return _NULL if name == dry_run.NAME else providers_by_name().get(name)


class _Place(NamedTuple):
    """The properties of a delivery by which routes are chosen."""

    channel: Channel
    mode: Mode
    kind: str
    address: str
    """A prefix as long as the longest region; whole on a channel of `_channels_by_address`."""
    attachment_bytes: int = 0
    has_images: bool = False
    """Images that the HTML shows are among the attachments."""


def choose_providers(batch: Batch) -> None:
    """Set the providers of each delivery; an empty tuple if no provider matches."""
    stored = provider_overrides.routes()
    reach = {channel: max(len(rule.region) for rule in rules) for channel, rules in stored.items()}
    whole = _channels_by_address()
    choices: dict[tuple[Channel, Mode, str, str, int, bool], Choice] = {}
    for claimed in batch.deliveries:
        channel, to, size, has_images = claimed.delivery.channel, claimed.destination, 0, False
        address = to.address if channel in whole else to.address[: reach.get(channel, 0)]
        kind = to.kind or addresses.told_kind(channel, to.address)
        if claimed.notification.attachments and (files := claimed.attachments):
            size, has_images = attachments.size_of(files), any(each.inline_id for each in files)
        place = (channel, claimed.delivery.mode, kind, address, size, has_images)
        choice = choices.get(place)
        if choice is None:
            choice = choices[place] = _choose(_Place(*place), stored.get(channel, ()))
        claimed.providers = choice.same_for_all or choice.order(claimed.delivery.id)


def providers_for(channel: Channel, mode: Mode, *, kind: str, address: str) -> list[str]:
    """Return the names of all providers that a contact can be routed to."""
    known = kind or addresses.told_kind(channel, address)
    choice = _choose(
        _Place(channel, mode, known, address), provider_overrides.routes().get(channel, ())
    )
    return list(dict.fromkeys(rule.provider for rule in choice.rules))


def live_providers(channel: Channel) -> list[Provider]:
    """Return the providers of live deliveries on a channel."""
    settings = conf.current()
    names = {rule.provider for rule in provider_overrides.routes().get(channel, ())}
    names = names or {settings.routes.get(channel, "")}
    found = map(provider_named, {dry_run.NAME} if settings.dry_run else names)
    return [each for each in found if each is not None]


def chat_schemes() -> frozenset[str] | None:
    """Return the schemes of the chat services in the routes; None: a provider takes each."""
    takes = [
        each.capabilities.takes.get(Channel.CHAT)
        for each in live_providers(Channel.CHAT)
        if Channel.CHAT in each.capabilities.channels and not each.capabilities.address_kinds
    ]
    if None in takes:
        return None
    rules = [each for each in takes if each is not None]
    return frozenset(name for name in LIMITS if any(rule(f"{name}://") for rule in rules))


def why_none(claimed: ClaimedDelivery) -> str:
    """Return why no provider takes a delivery, as a sentence without the address."""
    channel, to = claimed.delivery.channel, claimed.destination
    able = [each for each in live_providers(channel) if channel in each.capabilities.channels]
    if not able:
        return f"No configured provider takes {channel.label}."
    names = ", ".join(sorted(each.name for each in able))
    known = to.kind or addresses.told_kind(channel, to.address)
    takes = functools.partial(takes_address, channel=channel, kind=known, address=to.address)
    if any(takes(each) for each in able):
        return f"The routes to {names} exclude the address, or the attachments are too large."
    kind = f" (kind {known})" if known else ""
    return f"No provider of {channel.label} can send to such an address{kind}: asked {names}."


def _choose(place: _Place, stored: Sequence[RoutingRule]) -> Choice:
    settings = conf.current()
    if place.mode is Mode.TEST and place.kind == INBOX_KIND:
        return _among([RoutingRule(channel=place.channel, provider=in_app.PROVIDER)], place)
    if place.mode is Mode.TEST:
        return _among([RoutingRule(channel=place.channel, provider=settings.test_provider)], place)
    if settings.dry_run:
        return _among([RoutingRule(channel=place.channel, provider=dry_run.NAME)], place)
    default = RoutingRule(channel=place.channel, provider=settings.routes.get(place.channel, ""))
    choice = _among(stored, place)
    return choice if choice.rules else _among([default], place)


def _among(rules: Sequence[RoutingRule], place: _Place) -> Choice:
    usable = [
        rule
        for rule in rules
        if (found := provider_named(rule.provider)) is not None
        and takes_address(found, channel=place.channel, kind=place.kind, address=place.address)
        and takes_files(found, size=place.attachment_bytes, has_images=place.has_images)
    ]
    return routing.choose(usable, address=place.address, kind=place.kind)


def takes_files(provider: Provider, *, size: int, has_images: bool) -> bool:
    """Return True if a provider takes attachments of so many bytes, some of them images in HTML."""
    able = provider.capabilities
    return able.attachment_bytes >= size and (able.inline_images or not has_images)


def takes_address(provider: Provider, *, channel: Channel, kind: str, address: str) -> bool:
    """Return True if a provider takes an address.

    An unknown kind counts as any kind, except for those that an address tells by its form.
    """
    able = provider.capabilities
    if channel not in able.channels or not _takes_kind(provider, kind):
        return False
    takes = able.takes.get(channel)
    return takes is None or takes(address)


def _takes_kind(provider: Provider, kind: str) -> bool:
    kinds = provider.capabilities.address_kinds
    return not kinds or kind in kinds or (not kind and not kinds <= addresses.TOLD_KINDS)


def _channels_by_address() -> set[Channel]:
    """Return the channels of which a provider looks at the address itself."""
    return {
        channel
        for provider in providers_by_name().values()
        for channel in provider.capabilities.takes
    }
