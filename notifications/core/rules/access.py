"""Access rules: one line for each operation of the HTTP API.

An operation of the OpenAPI document has its line in its own declaration (`api.operation`), which
the import of the URL table adds; `complete` imports the URL table in a process without one. The
line of another view is in `TABLE`, or beside its URL in the folder of its feature.

A line names the required scope of a key, the modes of permitted keys, and the admin permission for
the same operation (`roles` has the permissions of each role). The API checks each request against
the table; `docs/access.md` is generated from the table. An operation without a line is refused, and
fails the build.

Test keys may read rows shared by both modes (templates), but may not change shared rows, and may
neither see nor change rows of live mode (alerts, the suppression list). `WHY_LIVE` gives the reason
on the page and in the answer to a test key.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from notifications.core.rules.lane import Mode
from notifications.core.rules.scopes import GRANTABLE, Scope


class Entry(StrEnum):
    """The requirement of an operation without a scope."""

    OPEN = "no key"
    """Anybody may call it."""
    KEY = "any key"
    """Any key may call it."""
    SIGNED = "a signature"
    """The provider's signature, or the signed token in the path."""
    RECIPIENT = "a recipient token"
    """The token of one recipient's app; keys are refused."""


WHY_LIVE: Final = {
    "alerts": "alerts tell of live lanes, sweeps and providers; test mode raises none",
    "costs": "costs are those of live messages; test mode costs nothing",
    "budgets": "budgets count live messages; test mode costs nothing",
    "switches": "switches hold live deliveries of every producer",
    "suppressions": "the suppression list stops live messages; test mode has no list",
    "attributes": "definitions of attributes are shared: a change by a key holds in live mode",
    "brand": "a brand is shared by both modes: a change by a key holds in live mode",
    "templates": "templates are shared: what a key changes there is sent in live mode",
}
"""Reasons why test keys may not call an operation, by the first part of the path."""
BOTH: Final = frozenset(Mode)
LIVE: Final = frozenset({Mode.LIVE})


@dataclass(frozen=True, slots=True)
class AccessRule:
    """One line of the table."""

    operation: str
    """Method and path: `POST /v1/alerts/{alert_id}/resolve`. A word behind them names a part of the
    body that needs a scope of its own."""
    needs: Scope | Entry
    modes: frozenset[Mode] = BOTH
    """Modes of the keys that may call the operation."""
    right: str = ""
    """The right that the same act needs in the admin; empty: the admin has no such act."""
    token_scope: str = ""
    """The scope with which a recipient token may call the operation for its own recipient; empty:
    no recipient token may call the operation."""

    @property
    def writes(self) -> bool:
        """Return True if the operation may change data."""
        return not self.operation.startswith("GET ")

    @property
    def why_live(self) -> str:
        """The reason why test keys may not call the operation; empty if test keys may."""
        if Mode.TEST in self.modes or isinstance(self.needs, Entry):
            return ""
        return WHY_LIVE[self.operation.split("/")[2]]


TABLE: Final[list[AccessRule]] = [
    AccessRule("GET /healthz", Entry.OPEN),
    AccessRule("GET /startupz", Entry.OPEN),
    AccessRule("GET /readyz", Entry.OPEN),
    AccessRule("GET /metrics", Entry.OPEN),
    AccessRule("GET /problems/{kind}", Entry.OPEN),
    AccessRule("GET /", Entry.OPEN),
    AccessRule("GET /favicon.ico", Entry.OPEN),
    AccessRule("GET /embed/{version}/{name}", Entry.OPEN),
    AccessRule("GET /l/{token}", Entry.OPEN),
    AccessRule("GET /v1/schema", Entry.OPEN),
    AccessRule("GET /v1/docs", Entry.OPEN),
    AccessRule("GET /o/{token}", Entry.SIGNED),
    AccessRule("GET /c/{token}", Entry.SIGNED),
    AccessRule("GET /v1/receipts/{provider}", Entry.SIGNED),
    AccessRule("GET /unsubscribe/{token}", Entry.SIGNED),
    AccessRule("POST /unsubscribe/{token}", Entry.SIGNED),
]
"""The operations without a declaration by noun, then those that were added (see `complete`)."""

RIGHTS_OF_FEATURES: Final[dict[Scope, frozenset[str]]] = {
    Scope.NOTIFICATIONS_READ: frozenset({"view_notification", "view_schedule"}),
    Scope.NOTIFICATIONS_WRITE: frozenset({"change_schedule"}),
    Scope.BRANDS_READ: frozenset({"view_brand"}),
    Scope.BRANDS_WRITE: frozenset({"change_brand"}),
    Scope.CAMPAIGNS_READ: frozenset({
        "view_bulkjob",
        "view_recipient",
        "view_series",
        "view_seriesenrolment",
    }),
    Scope.CAMPAIGNS_WRITE: frozenset({
        "add_bulkjob",
        "change_bulkjob",
        "change_series",
        "change_seriesenrolment",
    }),
    Scope.INBOX_READ: frozenset({"view_recipient"}),
    Scope.RECIPIENTS_READ: frozenset({"view_recipient"}),
    Scope.RECIPIENTS_WRITE: frozenset({"change_recipient"}),
    Scope.CONTACTS_WRITE: frozenset({"change_contact"}),
    Scope.PREFERENCES_WRITE: frozenset({"change_preference"}),
    Scope.ANALYTICS_READ: frozenset({"view_notification"}),
    Scope.OPERATIONS_READ: frozenset({"view_budget", "view_notification"}),
}
"""Admin rights that operations of features need, by scope. A key may outlive the removal of a
feature and its return, so these rights count whether the feature is installed or not."""
_BY_OPERATION: Final = {rule.operation: rule for rule in TABLE}
_LOADERS: Final[list[Callable[[], object]]] = []
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")


def complete_with(load: Callable[[], object]) -> None:
    """Set the function that imports all declarations of operations, for `complete`."""
    _LOADERS[:] = [load]


def complete() -> list[AccessRule]:
    """Return the table with the rules of all declared operations."""
    for load in _LOADERS:
        load()
    return TABLE


def add(rules: Iterable[AccessRule]) -> None:
    """Add the rules of operations, at the import of their declarations or of their feature."""
    for rule in rules:
        if rule.operation not in _BY_OPERATION:
            TABLE.append(rule)
            _BY_OPERATION[rule.operation] = rule
    rule_of.cache_clear()
    _rules_of.cache_clear()


@functools.lru_cache(maxsize=1_000)
def rule_of(method: str, route: str, part: str = "") -> AccessRule | None:
    """Return the line of an operation; None for an unknown operation.

    Args:
        method: `HEAD` counts as `GET`.
        route: as Django's router spells it, `v1/alerts/<int:alert_id>/resolve`.
        part: the part of the body with a separate scope.
    """
    asked = "GET" if method == "HEAD" else method
    return _BY_OPERATION.get(f"{asked} /{path_of(route)} {part}".rstrip())


def path_of(route: str) -> str:
    """Return the path of a route as the table spells it, `v1/alerts/{alert_id}/resolve`."""
    return _PARAMETER.sub(r"{\1}", route)


def scopes_within(rights: Callable[[str], bool]) -> list[str]:
    """Return the scopes that a user with these permissions may grant to a key, sorted.

    Args:
        rights: tells if the user has an admin permission, such as `change_alert`.
    """
    return sorted(scope for scope in GRANTABLE if _is_within(scope, rights))


def _is_within(scope: str, rights: Callable[[str], bool]) -> bool:
    needed = {
        *(rule.right for rule in _rules_of(scope) if rule.right),
        *(right for each in Scope if _names(scope, each) for right in _of_features(each)),
    }
    return all(map(rights, needed))


def _of_features(scope: Scope) -> frozenset[str]:
    return RIGHTS_OF_FEATURES.get(scope, frozenset())


@functools.lru_cache(maxsize=1_000)
def _rules_of(scope: str) -> tuple[AccessRule, ...]:
    return tuple([
        rule for rule in complete() if isinstance(rule.needs, Scope) and _names(scope, rule.needs)
    ])


def _names(scope: str, needed: Scope) -> bool:
    return scope in {needed.value, needed.wildcard}


def useless(scopes: Iterable[str], mode: Mode) -> list[str]:
    """Return the scopes without any use for a key of the mode, sorted."""
    return sorted(scope for scope in set(scopes) if not _opens(scope, mode))


def _opens(scope: str, mode: Mode) -> bool:
    """Return False if no operation of the scope takes the mode.

    A scope without an operation belongs to a feature that is not installed, and stays with the key.
    """
    rules = _rules_of(scope)
    return not rules or any(mode in rule.modes for rule in rules)
