"""The variables that the texts of a draft use, for the boxes of the composer.

A template with declarations has types and examples of its author. Else the texts say both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.templates import derived
from notifications.core.rules.texts import wording
from notifications.core.store.templates import versions
from notifications.features.bulk_jobs.admin import compose_form, compose_text
from providers.contract import Channel


def used(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the variables of the texts in a form, by name.

    Returns:
        `name`, `type` (a `variables.Type`), `required` and `example` of each variable. A text with
        a fault has none.
    """
    found: dict[str, dict[str, Any]] = {}
    with contextlib.suppress(BrokenTemplate):
        for each in _declarations(value):
            known = found.setdefault(each["name"], {"example": None, **each, "required": False})
            known["required"] |= each.get("required", True)
    return [found[name] for name in sorted(found)]


def _declarations(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the declared or derived variables of each text.

    Raises:
        BrokenTemplate: a text has a fault.
    """
    wanted = [Channel(each) for each in value.get("channels") or ()]
    for name in dict.fromkeys(name for name, _ in compose_form.texts_shown(value)):
        if name == value.get("template_id") and compose_text.CONTENT in value:
            texts = value[compose_text.CONTENT].texts
        elif version := versions.current(name):
            if version.variables:
                yield from version.variables
                continue
            texts = versions.content_of(version).texts
        else:
            continue
        used_here = (each for each in texts if not wanted or each.channel in wanted)
        sound = [each for each in used_here if not any(wording.fault_sentences(each))]
        yield from derived.declarations(sound)
