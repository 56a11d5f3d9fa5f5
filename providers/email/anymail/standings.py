"""The standing of an address after a bounce, by the service's own class of the bounce.

| standing | follows |
| --- | --- |
| alive | nothing: transient, mailbox full, text refused, or the class says nothing of the address |
| dead | the address is not used again: permanent, or on the service's list of bounces |
| complained | the address is not used again: the person reported a mail as spam |
| opted out | the address enters the suppression list, and the contact stays valid |

A rule names a place in the callback and the classes that count there. The first rule with a known
class decides; without one the address is alive. The words of anymail and of receiving servers never
decide: both describe a full mailbox and a mailbox that is gone alike. Postal has no class of
bounces and scaleway no callbacks, so neither ends an address.

Sources: the pages of each service about its webhooks and bounce classes, as of 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

from anymail.signals import EventType

from providers.email.anymail.services import Path, value_at


class Standing(Enum):
    """The standing of an address after a callback."""

    ALIVE = auto()
    DEAD = auto()
    COMPLAINED = auto()
    OPTED_OUT = auto()


_ALIVE, _DEAD = Standing.ALIVE, Standing.DEAD
_COMPLAINED, _OPTED_OUT = Standing.COMPLAINED, Standing.OPTED_OUT


class Rule(NamedTuple):
    """A place in a callback, and the classes there, in lower case."""

    path: Path
    standings: Mapping[str, Standing]


_SENDGRID_CLASSES: Final = dict.fromkeys(
    (
        "mailbox unavailable",
        "content",
        "reputation",
        "technical",
        "frequency/volume",
        "frequency or volume too high",
    ),
    _ALIVE,
)
_SPARKPOST_ALIVE: Final = (
    "1",  # undetermined
    "20",  # soft bounce
    "21",  # DNS failure
    "22",  # mailbox full
    "23",  # too large
    "24",  # timeout
    "25",  # the account's own policies
    "40",  # generic
    "50",  # mail block
    "51",  # spam block
    "52",  # spam content
    "53",  # prohibited attachment
    "54",  # relaying denied
    "70",  # transient failure
)

RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "brevo": (
        Rule(
            ("event",),
            {
                "hard_bounce": _DEAD,
                "invalid_email": _DEAD,
                "soft_bounce": _ALIVE,
                "blocked": _ALIVE,  # by the service, for any of several reasons
            },
        ),
    ),
    "mailgun": (
        Rule(
            ("event-data", "reason"),
            {
                "suppress-bounce": _DEAD,
                "suppress-unsubscribe": _OPTED_OUT,
                "suppress-complaint": _COMPLAINED,
            },
        ),
        *(
            Rule(path, {"605": _DEAD, "606": _OPTED_OUT, "607": _COMPLAINED})
            for path in (("event-data", "delivery-status", "code"), ("code",))
        ),
        Rule(
            ("event-data", "delivery-status", "enhanced-code"),
            {"5.2.2": _ALIVE, "4.2.2": _ALIVE},  # mailbox full
        ),
        Rule(
            ("event-data", "delivery-status", "bounce-type"),
            {"soft": _ALIVE, "hard": _DEAD},
        ),
        Rule(
            ("event-data", "reason"),
            {"bounce": _DEAD, "delayed-bounce": _ALIVE, "espblock": _ALIVE, "old": _ALIVE}
            | {"generic": _ALIVE},
        ),
        Rule(("event",), {"bounced": _DEAD}),  # callbacks of the form before 2018
    ),
    "mailjet": (
        Rule(
            ("error",),
            {"spam reporter": _COMPLAINED}
            | dict.fromkeys(
                (
                    "quota exceeded",
                    "blacklisted",
                    "preblocked",
                    "greylisted",
                    "relay/access denied",
                    "sender blocked",
                    "content blocked",
                    "policy issue",
                    "system issue",
                    "protocol issue",
                    "connection issue",
                    "duplicate in campaign",
                ),
                _ALIVE,
            ),
        ),
        Rule(("hard_bounce",), {"true": _DEAD, "false": _ALIVE}),
        Rule(
            ("error",),
            dict.fromkeys(
                ("user unknown", "mailbox inactive", "invalid domain", "no mail host", "typofix"),
                _DEAD,
            ),
        ),
    ),
    "mailtrap": (
        Rule(
            ("bounce_category",),
            {"hard": _DEAD, "badmailbox": _DEAD, "inactivemailbox": _DEAD, "baddomain": _DEAD}
            | {"mailboxfull": _ALIVE, "spam": _ALIVE},
        ),
    ),
    "mandrill": (
        *(
            Rule(
                path,
                {"hard-bounce": _DEAD, "invalid": _DEAD, "spam": _COMPLAINED, "unsub": _OPTED_OUT}
                | dict.fromkeys(("soft-bounce", "rule", "custom", "unsigned"), _ALIVE),
            )
            for path in (("msg", "reject", "reason"), ("reject", "reason"))
        ),
        Rule(("msg", "bounce_description"), {"mailbox_full": _ALIVE}),
        Rule(("event",), {"hard_bounce": _DEAD, "soft_bounce": _ALIVE}),
    ),
    "postal": (),
    "postmark": (
        Rule(
            ("Type",),
            {
                "hardbounce": _DEAD,
                "bademailaddress": _DEAD,
                "spamcomplaint": _COMPLAINED,
                "unsubscribe": _OPTED_OUT,
            }
            | dict.fromkeys(
                (
                    "softbounce",
                    "spamnotification",  # the receiving server refused the text
                    "virusnotification",
                    "blocked",
                    "dmarcpolicy",
                    "manuallydeactivated",
                    "unconfirmed",
                    "smtpapierror",
                    "templaterenderingfailed",
                ),
                _ALIVE,
            ),
        ),
        Rule(
            ("SuppressionReason",),
            {"hardbounce": _DEAD, "spamcomplaint": _COMPLAINED, "manualsuppression": _OPTED_OUT},
        ),
    ),
    "resend": (
        Rule(
            ("data", "bounce", "type"),
            {"permanent": _DEAD, "transient": _ALIVE, "undetermined": _ALIVE},
        ),
        Rule(("type",), {"email.suppressed": _DEAD}),
    ),
    "sendgrid": (
        Rule(("type",), {"blocked": _ALIVE, "expired": _ALIVE}),
        Rule(("bounce_classification",), {"invalid address": _DEAD} | _SENDGRID_CLASSES),
        Rule(("type",), {"bounce": _DEAD}),
        Rule(  # of a dropped mail; of a bounce it holds the receiving server's words
            ("reason",),
            {
                "bounced address": _DEAD,
                "invalid": _DEAD,
                "spam reporting address": _COMPLAINED,
                "unsubscribed address": _OPTED_OUT,
            },
        ),
    ),
    "sparkpost": (
        Rule(
            ("msys", "message_event", "bounce_class"),
            {"10": _DEAD, "30": _DEAD, "90": _OPTED_OUT} | dict.fromkeys(_SPARKPOST_ALIVE, _ALIVE),
        ),
    ),
    "unisender_go": (
        Rule(
            ("delivery_info", "delivery_status"),
            dict.fromkeys(
                (
                    "err_user_unknown",
                    "err_user_inactive",
                    "err_domain_inactive",
                    "err_mailbox_discarded",
                ),
                _DEAD,
            )
            | {"err_unsubscribed": _OPTED_OUT}
            | dict.fromkeys(
                (
                    "err_mailbox_full",
                    "err_spam_rejected",
                    "err_spam_skipped",
                    "err_blacklisted",
                    "err_too_large",
                    "err_unreachable",
                    "err_skip_letter",
                    "err_destination_misconfigured",
                    "err_delivery_failed",
                    "err_lost",
                ),
                _ALIVE,
            ),
        ),
    ),
}
"""Rules by service, for each service with callbacks."""

EVENTS: Final[Mapping[str, tuple[tuple[Path, Mapping[str, str]], ...]]] = {
    "brevo": ((("event",), {"unsubscribed": EventType.UNSUBSCRIBED}),),
    "mandrill": (
        (("event",), {"delivered": EventType.DELIVERED}),
        (("action",), {"remove": EventType.SUBSCRIBED}),  # of the rejection denylist
    ),
    "postal": ((("event",), {"MessageLoaded": EventType.OPENED}),),
    "postmark": ((("Type",), {"SpamNotification": EventType.BOUNCED}),),
    "resend": (
        (
            ("type",),
            {"email.failed": EventType.FAILED, "email.suppressed": EventType.BOUNCED},
        ),
    ),
}
"""Events that anymail does not know or reads as another event, by service."""

REMOVALS: Final[Mapping[str, tuple[Path, Mapping[str, frozenset[Standing]]]]] = {
    "mandrill": (
        ("reject", "reason"),  # absent where an entry of the allowlist is removed
        {"hard-bounce": frozenset({_DEAD}), "unsub": frozenset({_OPTED_OUT})},
    ),
    # A reactivation names no reason; a complaint cannot be reactivated.
    "postmark": (("SuppressSending",), {"false": frozenset({_DEAD, _OPTED_OUT})}),
    "sendgrid": (("event",), {"group_resubscribe": frozenset({_OPTED_OUT})}),
    "sparkpost": (
        ("msys", "message_event", "bounce_class"),
        {"80": frozenset({_OPTED_OUT})},  # the person asks to be subscribed
    ),
    "unisender_go": (("status",), {"subscribed": frozenset({_OPTED_OUT})}),
}
"""Standings that end with a removal from the service's suppression list, by service and class."""

_BY_EVENT: Final[Mapping[str, Standing]] = {
    EventType.COMPLAINED: _COMPLAINED,
    EventType.UNSUBSCRIBED: _OPTED_OUT,
}
_JUDGED: Final = frozenset({EventType.BOUNCED, EventType.REJECTED, EventType.FAILED})
"""Events whose class counts. A delivered or opened mail proves that the address is alive."""


def event_type(service: str, event_type: str, callback: object) -> str:
    """Return the event of a callback; `event_type` is anymail's answer."""
    for path, known in EVENTS.get(service, ()):
        if (found := known.get(value_at(callback, path))) is not None:
            return found
    return event_type


def standings_after_removal(service: str, event_type: str, callback: object) -> frozenset[Standing]:
    """Return the standings ended by a removal; empty for other callbacks."""
    if event_type != EventType.SUBSCRIBED or service not in REMOVALS:
        return frozenset()
    path, known = REMOVALS[service]
    return known.get(value_at(callback, path).strip().lower(), frozenset())


def standing(service: str, event_type: str, callback: object) -> tuple[Standing, str]:
    """Return the standing of the address, and the service's class; empty: no known class."""
    if event_type in _BY_EVENT:
        return _BY_EVENT[event_type], ""
    if event_type in _JUDGED:
        for path, standings in RULES[service]:
            said = value_at(callback, path)
            found = standings.get(said.strip().lower())
            if found is not None:
                return found, said
    return _ALIVE, ""
