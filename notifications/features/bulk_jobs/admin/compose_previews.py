"""Previews of a draft: each text of the templates, for a recipient or a locale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from notifications.core import conf
from notifications.core.admin.preview_panel import Panel
from notifications.core.models import Recipient, Template
from notifications.core.rules.language import locales
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.templates import previews
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from notifications.features.audiences.rows import members
from notifications.features.audiences.rules.nodes import And, UserIds
from notifications.features.bulk_jobs.admin.compose_draft import Draft
from notifications.features.bulk_jobs.admin.compose_form import TEMPLATE_FIELDS
from providers.contract import Channel


def context(draft: Draft, *, may_see_recipients: bool) -> dict[str, Any]:
    """Return the previews, and a sentence about the chosen recipient.

    Args:
        draft: the examined draft; an unknown recipient becomes an error of the draft.
        may_see_recipients: without the right, a typed user id is not looked up.
    """
    variables: dict[str, Any] = dict(draft.value.get("variables") or {})
    locale = str(draft.value.get("preview_locale") or "")
    user_id = str(draft.value.get("preview_user") or "").strip()
    told = ""
    if user_id and may_see_recipients:
        person = Recipient.objects.filter(mode=draft.mode, user_id=user_id).first()
        if person is None:
            draft.errors["preview_user"] = f"no recipient of {draft.mode.label} mode has this id"
        else:
            locale = locale or person.locale
            own = _variables_of(draft, person)
            told = f"{user_id}, locale {person.locale or 'unknown'}."
            if own is None:
                told += " This recipient is not in the audience."
            variables |= own or {}
    versions_shown = [
        version
        for name in dict.fromkeys(str(draft.value.get(name) or "") for name in TEMPLATE_FIELDS)
        if name and (version := versions.current(name))
    ]
    found = [
        (version, _panels(draft, version, locale or locales.DEFAULT, variables))
        for version in versions_shown
    ]
    return {"versions": found, "told": told}


def _variables_of(draft: Draft, person: Recipient) -> Mapping[str, Any] | None:
    """Return the columns of uploads; None if the recipient is not in the audience."""
    if draft.expression is None:
        return None
    alone = And((draft.expression, UserIds((person.user_id,))))
    found = members.page(alone, mode=draft.mode, after=person.pk - 1, until=person.pk, limit=1)
    return (found[0].variables or {}) if found else None


def _panels(
    draft: Draft, version: Template, locale: str, variables: Mapping[str, Any]
) -> list[Panel]:
    masked = {**variables, **dict.fromkeys(version.sensitive_variables, MASK)}
    texts = versions.content_of(version).texts
    wanted = [Channel(each) for each in draft.value.get("channels") or ()]
    there = sorted({text.channel for text in texts})
    shown = [each for each in wanted if each in there] or there
    return list(_each_panel(texts, shown, locale, version.default_locale, masked))


def _each_panel(
    texts: tuple[TextSource, ...],
    shown: list[Channel],
    locale: str,
    default: str,
    variables: Mapping[str, Any],
) -> Iterator[Panel]:
    schemes = conf.current().inbox_url_schemes
    for channel in shown:
        words = previews.chosen(texts, channel, locale, default=default)
        if words is not None:
            made = previews.preview(words, variables, url_schemes=schemes)
            yield Panel(words=words, instead="", preview=made)
