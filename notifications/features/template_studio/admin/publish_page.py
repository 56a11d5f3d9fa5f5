"""The page before a version of a template is published: changes, languages, use and variables.

changes     differences from the current version
languages   for each channel, the languages with a text, and the language that others get
use         notification types of the last seven days, with notifications a day
warnings    those of spam filters and mail programs about the mails
variables   for a version without declarations: the declarations derived from the texts
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from notifications.core import conf
from notifications.core.admin import base, confirmation
from notifications.core.models import NotificationType, Template, TemplateEvent
from notifications.core.rules.language import locales
from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.templates import derived, diff, previews
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.texts import variants
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.cached import brands
from notifications.core.store.templates import rows, versions
from notifications.core.store.templates.versions import NotPublishable
from notifications.features.template_studio.admin import template_uses
from notifications.features.template_studio.admin.template_uses import Use
from providers.contract import Channel

Verb = TemplateEvent.Verb


class NotAsShown(Exception):
    """The draft or the current version has changed since the page was shown."""

    def __init__(self) -> None:
        super().__init__("somebody changed the draft or published another version meanwhile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The languages of a channel, or of a variant on a channel."""

    channel: str
    there: Sequence[str]
    instead: Sequence[tuple[str, str]]
    """Language without a text on the channel, and the language or text that its readers get."""


def show(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    version: Template,
    *,
    consequence: str,
) -> HttpResponse:
    """Show the page."""
    content = versions.content_of(version)
    now_valid = versions.current(version.template_id)
    before = versions.content_of(now_valid) if now_valid else None
    found = template_uses.uses(version.template_id)
    context = {
        "template": version,
        "current": now_valid,
        "consequence": consequence,
        "objections": rows.objections(version),
        "refusal": _refusal(version, request.user.get_username()),
        "changes": diff.side_by_side(before, content) if before else [],
        "coverage": coverage(content.texts, default=version.default_locale),
        "warnings": mail_warnings(version, content, found),
        "uses": found,
        "digests": list(
            NotificationType.objects.filter(digest_template=version.template_id).values_list(
                "name", flat=True
            )
        ),
        "days": template_uses.DAYS,
        "derived": [] if version.variables else _derive(content),
        "lonely": {name for names in derived.lonely(content.texts).values() for name in names},
        "shown": _revision(content, now_valid),
        "back": reverse("admin:notifications_template_editor", args=[version.pk]),
    }
    title = f"Publish: {version}"
    return base.page(
        model_admin, request, "template_studio/publish.html", title=title, context=context
    )


def _revision(content: TemplateContent, now_valid: Template | None) -> str:
    """Return the stamp of the shown version: the content, and the version that it replaces."""
    texts = [dataclasses.asdict(each) for each in content.texts]
    return confirmation.stamp(texts, dict(content.settings), now_valid and now_valid.pk)


@transaction.atomic
def publish(version: Template, *, by: str, declares: bool, seen: str) -> Template:
    """Publish a version, with derived declarations if `declares`.

    Args:
        version: the draft.
        by: the operator.
        declares: the operator wants the derived declarations.
        seen: the revision that the page has shown to the operator.

    Raises:
        NotAsShown: the draft has another revision.
        NotPublishable: as `versions.publish`; or `by` wrote the version, and another operator has
            to publish.
    """
    # Locked, so that nobody edits after the looks at the content and at the authors.
    version = versions.locked(version)
    if version.published_at is None:
        now_valid = versions.current(version.template_id)
        if _revision(versions.content_of(version), now_valid) != seen:
            raise NotAsShown
    if refusal := _refusal(version, by):
        raise NotPublishable(refusal)
    if declares and not version.variables:
        found = _derive(versions.content_of(version))
        Template.objects.filter(pk=version.pk, published_at=None).update(variables=found)
    return versions.publish(version, by=by)


def coverage(texts: Sequence[TextSource], *, default: str) -> list[Coverage]:
    """Return the languages of each channel of a version, and of each variant there."""
    every = sorted({text.locale for text in texts})
    found = []
    for channel in sorted({text.channel for text in texts}):
        there = _locales(texts, channel)
        missing = [locale for locale in every if locale not in there]
        instead = [
            (locale, locales.choose(tuple(there), locale, default=default) or "nothing")
            for locale in missing
        ]
        found.append(Coverage(channel=channel.label, there=there, instead=instead))
        for variant in variants.names(text for text in texts if text.channel is channel):
            own = _locales(texts, channel, variant)
            instead = [(locale, "the base text") for locale in there if locale not in own]
            name = f"{channel.label}, variant {variant}"
            found.append(Coverage(channel=name, there=own, instead=instead))
    return found


def _locales(texts: Sequence[TextSource], channel: Channel, variant: str = "") -> list[str]:
    wanted = channel, variant
    return sorted(text.locale for text in texts if (text.channel, text.variant) == wanted)


def mail_warnings(version: Template, content: TemplateContent, found: Sequence[Use]) -> list[str]:
    """Return the warnings about the mails of a version, rendered with the examples."""
    samples = previews.samples(content.texts, version.variables)
    types, brand = template_uses.marketing_types(found), brands.of(None)
    return [
        f"{text.label}: {warning}"
        for text in variants.completed(content.texts)
        if text.channel is Channel.EMAIL
        for warning in previews.preview(text, samples, brand=brand, marketing_types=types).warnings
    ]


def _refusal(version: Template, by: str) -> str:
    """Return why an operator may not publish a version; empty: the operator may."""
    if not conf.current().publish_needs_second_person:
        return ""
    wrote = TemplateEvent.objects.filter(
        template_id=version.template_id,
        version=version.version,
        verb__in=(Verb.DRAFTED, Verb.EDITED),
        by=by,
    )
    if not wrote.exists():
        return ""
    return "you wrote this version, and NOTIFY_PUBLISH_NEEDS_SECOND_PERSON wants another publisher"


def _derive(content: TemplateContent) -> list[dict[str, Any]]:
    try:
        return derived.declarations(content.texts)
    except BrokenTemplate:
        return []
