"""Message templates as files: `<template_id>/<channel>.<locale>.txt`, `.html` for a mail's HTML.

In the text file of a channel that has a title (push, e-mail, in-app) the first line is the title,
then an empty line. Loading is idempotent: a version is published only when the words differ from
the current one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.db import transaction

from notifications import clock
from notifications.models import Template, TemplateText
from notifications.rules import templating
from notifications.rules.template_syntax import BrokenTemplate
from providers.contract import Channel

_TITLED: Final = frozenset({Channel.PUSH, Channel.EMAIL, Channel.IN_APP})

Words = tuple[Channel, str, str, str, str]
"""Channel, locale, title, body, html."""


def load(folder: Path, *, sensitive: Sequence[str] = ()) -> Template:
    """Publish the texts of a folder, whose name is the template's id; returns the current one.

    Raises:
        BrokenTemplate: a file would not be safe to render.
    """
    words = sorted(_read(path) for path in folder.glob("*.txt"))
    with transaction.atomic():
        current = Template.objects.filter(template_id=folder.name).first()
        if current and current.published_at and _is_same(current, words, sensitive):
            return current
        made = Template.objects.create(
            template_id=folder.name,
            version=current.version + 1 if current else 1,
            published_at=clock.now(),
            sensitive_variables=list(sensitive),
            note="From files",
        )
        TemplateText.objects.bulk_create(
            TemplateText(
                template=made, channel=channel, locale=locale, title=title, body=body, html=html
            )
            for channel, locale, title, body, html in words
        )
    return made


def _read(path: Path) -> Words:
    channel_name, locale = path.stem.split(".")
    channel = Channel.from_label(channel_name)
    text = path.read_text().rstrip("\n")
    title, body = ("", text)
    if channel in _TITLED:
        title, _, body = text.partition("\n\n")
    html_file = path.with_suffix(".html")
    html = html_file.read_text() if html_file.exists() else ""
    for source in (title, body, html):
        faults = templating.check(source)
        if faults:
            raise BrokenTemplate(faults)
    return channel, locale, title, body, html


def _is_same(template: Template, words: list[Words], sensitive: Sequence[str]) -> bool:
    stored = sorted(
        (Channel(text.channel), text.locale, text.title, text.body, text.html)
        for text in template.texts.all()
    )
    return stored == words and template.sensitive_variables == list(sensitive)
