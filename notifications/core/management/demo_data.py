"""The demo's recipients, types and producers.

The sandbox interprets the addresses: an address decides the outcome of a message (see
`providers.sandbox_server.steering`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.scopes import Scope
from providers.contract import Channel

_EVERYTHING: Final = tuple(Priority)
INBOX_SERVICE: Final = "shop"
"""The producer whose page is `/demo/inbox`."""
TUTORIAL: Final = "tutorial"
"""The producer whose key the demo prints, and with which every example of the documents runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A producer with an API key."""

    name: str
    priorities: tuple[Priority, ...] = _EVERYTHING
    scopes: tuple[str, ...] = ("notifications:*", "webhooks:*")
    mode: Mode = Mode.LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A recipient with contacts: (channel, kind of address, address)."""

    user_id: str
    locale: str = "en"
    timezone: str = "UTC"
    contacts: tuple[tuple[Channel, str, str], ...]
    channels_off: tuple[Channel, ...] = ()
    categories_off: tuple[str, ...] = ()
    caps: Mapping[str, str] = field(default_factory=dict)
    """Channel -> cap, such as 3/day."""


SERVICES: Final = (
    Service(name=TUTORIAL, scopes=tuple(sorted({scope.wildcard for scope in Scope}))),
    Service(
        name="order-service",
        priorities=(Priority.P1, Priority.P2, Priority.P3),
        scopes=("notifications:*", "webhooks:*", "inbox:*", "recipients:*", "preferences:write"),
    ),
    Service(name="auth-service", priorities=(Priority.P0, Priority.P1)),
    Service(
        name="marketing",
        priorities=(Priority.P2, Priority.P3),
        scopes=("notifications:*", "webhooks:*", "campaigns:*", "events:*", "recipients:*"),
    ),
    Service(
        name=INBOX_SERVICE,
        scopes=(
            *("notifications:write", "recipients:write", "contacts:write"),
            *("inbox:read", "inbox:write"),
        ),
    ),
    Service(
        name="operator",
        scopes=(
            *("notifications:read", "operations:*", "templates:*"),
            *("recipients:*", "contacts:write", "preferences:write", "suppressions:*", "inbox:*"),
        ),
    ),
    Service(
        name="sandbox-tests",
        mode=Mode.TEST,
        scopes=(
            *("notifications:*", "webhooks:*"),
            *("recipients:*", "contacts:write", "preferences:write", "inbox:*"),
        ),
    ),
)

TYPES: Final = {
    "OTP": (Priority.P0, "security"),
    "PASSWORD_CHANGED": (Priority.P0, "security"),
    "ORDER_READY": (Priority.P1, "orders"),
    "ORDER_SHIPPED": (Priority.P2, "orders"),
    "LIKE": (Priority.P2, "social"),
    "MARKETING": (Priority.P3, "marketing"),
}
"""Type -> priority, and the category which a recipient can switch off."""

TOPIC_TEXTS: Final = {
    "security": {
        "en": "Security",
        "de": "Sicherheit",
        "fr": "Sécurité",
        "es": "Seguridad",
        "ar": "الأمان",
        "pt-BR": "Segurança",
    },
    "orders": {
        "en": "Orders",
        "de": "Bestellungen",
        "fr": "Commandes",
        "es": "Pedidos",
        "ar": "الطلبات",
        "pt-BR": "Pedidos",
    },
    "social": {
        "en": "Likes and comments",
        "de": "Likes und Kommentare",
        "fr": "Réactions et commentaires",
        "es": "Me gusta y comentarios",
        "ar": "الإعجابات والتعليقات",
        "pt-BR": "Curtidas e comentários",
    },
    "marketing": {
        "en": "Offers",
        "de": "Angebote",
        "fr": "Offres",
        "es": "Ofertas",
        "ar": "العروض",
        "pt-BR": "Ofertas",
    },
}
"""Category -> name for recipients by locale."""

DIGESTS: Final = {"LIKE": "like_digest"}
"""Type -> template of the digest, sent instead of many capped messages."""

PEOPLE: Final = (
    Person(
        user_id="u_789012",
        locale="pt-BR",
        timezone="America/Sao_Paulo",
        contacts=(
            (Channel.PUSH, "fcm_token", "maria-android"),
            (Channel.SMS, "", "+15552000001"),
            (Channel.EMAIL, "", "maria@sandbox.example"),
        ),
    ),
    Person(
        user_id="u_ana",
        locale="es",
        timezone="Europe/Madrid",
        contacts=(
            (Channel.EMAIL, "", "ana+503x2@sandbox.example"),
            (Channel.PUSH, "apns_token", "ana-iphone.receipt-read"),
        ),
    ),
    Person(user_id="u_wrong_number", contacts=((Channel.SMS, "", "+15550000"),)),
    Person(
        user_id="u_quiet",
        contacts=(
            (Channel.PUSH, "fcm_token", "quiet-android"),
            (Channel.EMAIL, "", "quiet@sandbox.example"),
        ),
        channels_off=(Channel.PUSH,),
        categories_off=("marketing", "social"),
    ),
    Person(
        user_id="u_lisa",
        timezone="Europe/Berlin",
        contacts=(
            (Channel.PUSH, "fcm_token", "lisa-android"),
            (Channel.PUSH, "apns_token", "lisa-ipad"),
            (Channel.SMS, "", "+15552000002"),
            (Channel.EMAIL, "", "lisa@sandbox.example"),
        ),
    ),
    Person(
        user_id="u_popular",
        contacts=((Channel.PUSH, "fcm_token", "popular-android"),),
        caps={"push": "3/hour"},
    ),
)

CODE_READERS: Final = 200
"""Recipients of a code by SMS. A number may have ten SMS in ten minutes, and a prefix fifty, so the
demo can be repeated at once."""
_PREFIXES: Final = 25
CROWD: Final = 2_000
"""Recipients of the newsletter: enough for a campaign which delays an OTP without priorities."""


def everybody() -> Iterator[Person]:
    """Yield the named people, `code_reader_001` to `_200`, then `reader_0001` to `reader_2000`."""
    yield from PEOPLE
    for number in range(CODE_READERS):
        line, area = divmod(number, _PREFIXES)
        # 555-0100 to 555-0199 are for fiction in each area code.
        contacts = ((Channel.SMS, "", f"+1{201 + area}55501{line:02}"),)
        yield Person(user_id=f"code_reader_{number + 1:03}", contacts=contacts)
    for number in range(1, CROWD + 1):
        address = f"reader-{number:04}@sandbox.example"
        yield Person(user_id=f"reader_{number:04}", contacts=((Channel.EMAIL, "", address),))
