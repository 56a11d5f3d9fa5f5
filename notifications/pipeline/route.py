"""Route: which providers may take each delivery, in the order in which they are tried.

    admin's rows (rules.routing)  ─ none fits ─>  NOTIFY_ROUTES  ─ none ─>  held, with an alert

Only a provider that is configured and takes the channel and the kind of address counts: tokens of
APNs and of FCM on one channel find their own. A test key's deliveries go to the sandbox, whatever
the channel; in a dry run all others go to the null provider.

It is decided for a batch at a time: what its deliveries share (channel, kind, beginning of the
number) is looked up once, and only providers that share by weight cost a draw for each. Adapters
are built once a process, on first use, because their connections must not cross a fork.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from notifications import conf
from notifications.pipeline.batch import Batch
from notifications.rules import routing
from notifications.rules.lane import Mode
from notifications.rules.routing import Choice, Rule
from notifications.store import routes
from providers import dry_run, registry
from providers.contract import Channel, Provider

_NULL: Final = dry_run.DryRun()


@functools.cache
def configured() -> Mapping[str, Provider]:
    """The adapters that the environment configures, by name."""
    return registry.configured(os.environ)


def forget() -> None:
    """Build adapters and read routes anew on their next use: the settings have changed."""
    configured.cache_clear()
    routes.forget()


def provider_named(name: str) -> Provider | None:
    """A configured adapter, or the null provider, by its name."""
    return _NULL if name == dry_run.NAME else configured().get(name)


class _Place(NamedTuple):
    """What decides the rules of a delivery."""

    channel: Channel
    mode: Mode
    kind: str
    beginning: str
    """Of the address, as far as a region can reach."""


def choose_providers(batch: Batch) -> None:
    """Give each job its providers; none where no provider takes it."""
    stored = routes.current()
    reach = {channel: max(len(rule.region) for rule in rules) for channel, rules in stored.items()}
    choices: dict[_Place, Choice] = {}
    for job in batch.jobs:
        channel, to = job.delivery.channel, job.destination
        beginning = to.address[: reach.get(channel, 0)]
        place = _Place(channel, job.delivery.mode, to.kind, beginning)
        choice = choices.get(place)
        if choice is None:
            choice = choices[place] = _choose(place, stored.get(channel, ()))
        job.providers = choice.order(job.delivery.id)


def takers(channel: Channel) -> list[Provider]:
    """Those that live deliveries of a channel may go by, whatever their addresses."""
    settings = conf.current()
    names = {rule.provider for rule in routes.current().get(channel, ())}
    names = names or {settings.routes.get(channel, "")}
    found = map(provider_named, {dry_run.NAME} if settings.dry_run else names)
    return [each for each in found if each is not None]


def _choose(place: _Place, stored: Sequence[Rule]) -> Choice:
    settings = conf.current()
    if place.mode is Mode.TEST:
        return _among([Rule(channel=place.channel, provider=settings.test_provider)], place)
    if settings.dry_run:
        return _among([Rule(channel=place.channel, provider=dry_run.NAME)], place)
    default = Rule(channel=place.channel, provider=settings.routes.get(place.channel, ""))
    choice = _among(stored, place)
    return choice if choice.rules else _among([default], place)


def _among(rules: Sequence[Rule], place: _Place) -> Choice:
    usable = [rule for rule in rules if _is_usable(rule.provider, place)]
    return routing.choose(usable, address=place.beginning, kind=place.kind)


def _is_usable(name: str, place: _Place) -> bool:
    provider = provider_named(name)
    return provider is not None and takes(provider, channel=place.channel, kind=place.kind)


def takes(provider: Provider, *, channel: Channel, kind: str) -> bool:
    """Whether a provider takes such an address; one of no stated kind may be any."""
    able = provider.capabilities
    known = not able.address_kinds or not kind or kind in able.address_kinds
    return known and channel in able.channels
