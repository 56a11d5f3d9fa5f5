"""Conversion of stored templates for the rules."""

from __future__ import annotations

import contextlib
from typing import Final

from django.db.models import Q

from notifications.core import conf
from notifications.core.models import Template, TemplateText
from notifications.core.rules.language import variables
from notifications.core.rules.language.variables import MalformedDeclaration
from notifications.core.rules.templates import one_off, publishing
from notifications.core.rules.texts import wording
from notifications.core.rules.texts.wording import COLUMNS, TextSource
from notifications.core.store.templates import files
from providers.contract import Channel

ONE_OFF: Final = Q(template_id__regex=one_off.PATTERN)
"""Condition for one-off templates, which lists of templates leave out."""


def source_of(text: TemplateText) -> TextSource:
    """Return the source of a text, before compilation."""
    stored = {name: getattr(text, name) for name in COLUMNS}
    return wording.source_of(Channel(text.channel), stored)


def sources_of(template: Template) -> list[TextSource]:
    """Return the sources of the texts of a version, before compilation."""
    with contextlib.suppress(MalformedDeclaration):  # of a draft, whose publication is refused
        declared = variables.parse_declarations(template.variables)
        return wording.for_declarations(map(source_of, template.texts.all()), declared)
    return [source_of(text) for text in template.texts.all()]


def objections(template: Template) -> list[str]:
    """Return the objections to publishing a version, a sentence per objection."""
    sources = sources_of(template)
    if not sources:
        return ["a version without a text cannot be published"]
    try:
        declared = variables.parse_declarations(template.variables)
    except MalformedDeclaration as error:
        return [str(error)]
    found = publishing.objections(
        sources,
        declared=declared,
        sensitive=template.sensitive_variables,
        public_url=conf.current().public_url,
        url_schemes=conf.current().inbox_url_schemes,
    )
    return [*found, *files.objections(template, {each.channel for each in sources})]
