"""Message templates as files, one folder for each: its name is the template's id.

    <channel>.<locale>.txt     the words; where the channel has a title (push, e-mail, in-app) the
                               first line is the title, then an empty line
    <channel>.<locale>.html    a mail's HTML
    template.toml              what is not words:

        default_locale = "en"
        sensitive = ["code"]
        [variables.code]              see `rules.variables`
        type = "string"
        required = true
        example = "482913"
        [sms]                         for all its SMS texts: see `rules.wording.Source`
        transliterate = true
        max_segments = 1
        shorten_links = false

Loading is idempotent: a version is published only when something differs from the current one's.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from notifications import clock, conf
from notifications.models import Template, TemplateText
from notifications.rules import locales, publishing, variables
from notifications.rules.wording import Source
from notifications.store import texts
from providers.contract import Channel

METADATA: Final = "template.toml"
_TITLED: Final = frozenset({Channel.PUSH, Channel.EMAIL, Channel.IN_APP})
_KNOWN: Final = frozenset({"default_locale", "sensitive", "variables", "sms"})
_SMS: Final = frozenset({"transliterate", "max_segments", "shorten_links"})


class UnfitTemplate(Exception):
    """A folder may not be published as it is; the message says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFiles:
    """What a folder holds."""

    template_id: str
    sources: tuple[Source, ...]
    variables: list[dict[str, Any]]
    """As `Template.variables` stores them."""
    sensitive: list[str]
    default_locale: str


def load(folder: Path) -> Template:
    """Publish the texts of a folder; returns the current version.

    Raises:
        UnfitTemplate: something in it may not be published.
    """
    files = read(folder)
    with transaction.atomic():
        current = Template.objects.filter(template_id=files.template_id).first()
        if current and current.published_at and _is_same(current, files):
            return current
        made = Template.objects.create(
            template_id=files.template_id,
            version=current.version + 1 if current else 1,
            published_at=clock.now(),
            sensitive_variables=files.sensitive,
            variables=files.variables,
            default_locale=files.default_locale,
            note="From files",
        )
        TemplateText.objects.bulk_create(
            TemplateText(
                template=made,
                channel=source.channel,
                locale=source.locale,
                title=source.title,
                body=source.body,
                html=source.html,
                transliterate=source.transliterate,
                max_segments=source.max_segments,
                shorten_links=source.shorten_links,
            )
            for source in files.sources
        )
    return made


def read(folder: Path) -> TemplateFiles:
    """Read a folder.

    Raises:
        UnfitTemplate: something in it may not be published.
    """
    told = _metadata(folder)
    files = TemplateFiles(
        template_id=folder.name,
        sources=tuple(_source(path, told.get("sms", {})) for path in sorted(folder.glob("*.txt"))),
        variables=[{"name": name, **said} for name, said in told.get("variables", {}).items()],
        sensitive=told.get("sensitive", []),
        default_locale=told.get("default_locale", locales.DEFAULT),
    )
    try:
        declared = variables.read(files.variables)
    except variables.MalformedDeclaration as error:
        raise UnfitTemplate(f"{folder.name}/{METADATA}: {error}") from error
    found = publishing.objections(
        files.sources,
        declared=declared,
        sensitive=files.sensitive,
        public_url=conf.current().public_url,
    )
    if found:
        raise UnfitTemplate(f"{folder.name}: {'; '.join(found)}")
    return files


def _metadata(folder: Path) -> dict[str, Any]:
    path = folder / METADATA
    if not path.exists():
        return {}
    told = tomllib.loads(path.read_text())
    unknown = (told.keys() - _KNOWN) | (told.get("sms", {}).keys() - _SMS)
    if unknown:
        raise UnfitTemplate(f"{folder.name}/{METADATA}: {min(unknown)} means nothing here")
    return told


def _source(path: Path, sms: dict[str, Any]) -> Source:
    channel_name, locale = path.stem.split(".")
    channel = Channel.from_label(channel_name)
    text = path.read_text().rstrip("\n")
    title, body = ("", text)
    if channel in _TITLED:
        title, _, body = text.partition("\n\n")
    html_file = path.with_suffix(".html")
    return Source(
        channel=channel,
        locale=locale,
        title=title,
        body=body,
        html=html_file.read_text() if html_file.exists() else "",
        **(sms if channel is Channel.SMS else {}),
    )


def _is_same(template: Template, files: TemplateFiles) -> bool:
    about = (template.sensitive_variables, template.variables, template.default_locale)
    stored = {texts.source_of(text) for text in template.texts.all()}
    return about == (files.sensitive, files.variables, files.default_locale) and (
        stored == set(files.sources)
    )
