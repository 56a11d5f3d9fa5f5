"""SMS settings in a template's files: common settings, and exceptions by text name.

    "sms": {"transliterate": true, "max_segments": 1}           every SMS text
    "texts": {"sms.de": {"shorten_links": true}}                exceptions by text name

A missing setting has the default (see `texts.wording.TextSource`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final

from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

ALL: Final = "sms"
EACH: Final = "texts"
MAX_SEGMENTS: Final = 32_767
"""Largest value of the column."""
_DEFAULTS: Final[Mapping[str, Any]] = {
    "transliterate": False,
    "max_segments": None,
    "shorten_links": False,
}


class MalformedPolicy(ValueError):
    """Not of the forms above; the message says which and why."""


def written(texts: Iterable[TextSource]) -> dict[str, Any]:
    """Return the policies of texts for a version's files; empty if all are defaults."""
    found = {_name(text): _of(text) for text in texts if _has_policy(text)}
    shared = next(iter(found.values()), {})
    if all(policy == shared for policy in found.values()):
        return {ALL: shared} if shared else {}
    return {EACH: {name: policy for name, policy in found.items() if policy}}


def apply(texts: Iterable[TextSource], settings: Mapping[str, Any]) -> list[TextSource]:
    """Return the texts with the policies from the settings.

    Raises:
        MalformedPolicy: another form, or an unknown text.
    """
    there = list(texts)
    shared, each = _parse(settings.get(ALL, {}), where=ALL), settings.get(EACH, {})
    if not isinstance(each, dict):
        raise MalformedPolicy(f"{EACH} is an object")
    strangers = each.keys() - {_name(text) for text in there if _has_policy(text)}
    if strangers:
        raise MalformedPolicy(f"{EACH}: unknown SMS {min(strangers)}")
    own = {name: _parse(policy, where=name) for name, policy in each.items()}
    return [
        dataclasses.replace(text, **(shared | own.get(_name(text), {})))
        if _has_policy(text)
        else text
        for text in there
    ]


def _has_policy(text: TextSource) -> bool:
    """Return True for an SMS; a variant has the settings of its base text."""
    return text.channel is Channel.SMS and not text.variant


def _name(text: TextSource) -> str:
    return f"{text.channel.label}.{text.locale}"


def _of(text: TextSource) -> dict[str, Any]:
    policy = {name: getattr(text, name) for name in _DEFAULTS}
    return {name: value for name, value in policy.items() if value != _DEFAULTS[name]}


def _parse(policy: object, *, where: str) -> dict[str, Any]:
    if not isinstance(policy, dict):
        raise MalformedPolicy(f"{where} is an object")
    for name, value in policy.items():
        if name not in _DEFAULTS:
            raise MalformedPolicy(f"{where}: {name} means nothing here")
        fault = _fault(name, value)
        if fault:
            raise MalformedPolicy(f"{where}: {name} is {fault}")
    return policy


def _fault(name: str, value: object) -> str:
    if name != "max_segments":
        return "" if isinstance(value, bool) else "true or false"
    is_count = isinstance(value, int) and not isinstance(value, bool)
    if value is None or (is_count and value in range(1, MAX_SEGMENTS + 1)):
        return ""
    return f"1 to {MAX_SEGMENTS}, or null"
