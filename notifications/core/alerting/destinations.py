"""Destinations: encrypted URLs, rows of NOTIFY_ALERT_URLS, and the sender."""

from __future__ import annotations

import functools
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cryptography.fernet import InvalidToken

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import AlertDestination
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres import secret_variables
from notifications.core.webhooks import body
from providers import configuration
from providers.alert_destinations.destination import Destination, DestinationKind, parse
from providers.alert_destinations.sender import NoticeSender
from providers.chat import apprise_chat
from providers.chat.services import SERVICES
from providers.configuration import parse_with
from providers.contract import Channel
from providers.errors import ForbiddenAddress
from providers.transport import Transport

_TRANSPORT: Final = Transport()
"""Apart from the providers' transport, whose slots notices must not need."""
_FINGERPRINT: Final = 32


class UnreadableUrl(Exception):
    """No encryption key decrypts the URL of a destination: enter the URL again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChatConfig:
    """The setting of the local servers that replace the servers of chat services."""

    endpoints: Mapping[str, str] = field(
        default_factory=dict, metadata=parse_with(apprise_chat.endpoints)
    )


def check(url: str) -> None:
    """Check a URL at its entry.

    Raises:
        ValueError: the URL has no known form, or points at a private address.
    """
    found = parse(url)
    if found.kind is DestinationKind.WEBHOOK:
        try:
            body.check_url(found.address)
        except ForbiddenAddress as error:
            raise ValueError(str(error)) from error


def seal(url: str) -> tuple[str, str]:
    """Return the encrypted URL and the target for operators.

    Raises:
        ValueError: the URL has no known form.
    """
    target = parse(url).label
    return secret_variables.encrypt(Sensitive({"url": url.strip()})).decode(), target


def parse_row(row: AlertDestination) -> Destination:
    """Decrypt and parse the URL of a destination.

    Raises:
        UnreadableUrl: no key decrypts the URL.
    """
    try:
        stored = secret_variables.decrypt(row.secret.encode())
    except InvalidToken:
        raise UnreadableUrl from None
    return parse(str(stored.reveal()["url"]))


def sync_environment() -> None:
    """Make the rows of NOTIFY_ALERT_URLS current; a URL that is gone makes its row inactive."""
    wanted = {_fingerprint(url): url for url in conf.current().alert_urls}
    rows = AlertDestination.objects.exclude(fingerprint="")
    stored = {row.fingerprint: row for row in rows}
    for fingerprint, url in wanted.items():
        row = stored.get(fingerprint)
        if row is None:
            sealed, target = seal(url)
            name = f"NOTIFY_ALERT_URLS {fingerprint[:6]}"
            values = {"name": name, "secret": sealed, "target": target}
            AlertDestination.objects.get_or_create(fingerprint=fingerprint, defaults=values)
        elif not row.is_active:
            AlertDestination.objects.filter(pk=row.pk).update(is_active=True)
    gone = stored.keys() - wanted.keys()
    if gone:
        AlertDestination.objects.filter(fingerprint__in=gone, is_active=True).update(
            is_active=False
        )


def _fingerprint(url: str) -> str:
    return hmac.digest(conf.current().hash_key, url.encode(), "sha256").hex()[:_FINGERPRINT]


def sender() -> NoticeSender:
    """Return the ways out of the installation, with the e-mail provider of live mode."""
    mail = routing.live_providers(Channel.EMAIL)
    return NoticeSender(
        transport=_TRANSPORT, guard=body.policy(), chat=_chat(), mail=mail[0] if mail else None
    )


@functools.cache
def _chat() -> apprise_chat.AppriseChat:
    replaced = configuration.load(_ChatConfig, vendor=apprise_chat.NAME, environ=os.environ)
    policy = body.policy()
    config = apprise_chat.Config(
        schemes=frozenset(SERVICES),
        allow_private=policy.allow_private,
        nat64=policy.nat64,
        endpoints=replaced.endpoints,
    )
    return apprise_chat.AppriseChat(config, transport=_TRANSPORT)


def forget() -> None:
    """Read the settings of chat services again."""
    _chat.cache_clear()
