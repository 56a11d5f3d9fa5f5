"""The text of a bulk job that is written in the composer, in place of a template.

    fields ──> clean ──> content ──> objections, warnings, previews
                                └──> stored: a one-off template of the job

The text passes the checks of every template. `create` and the dry run find the text as a version of
the template: `shown` for a draft, `stored` for a job. The template is published in the transaction
of the job, so a refused job stores no template.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

from django import forms
from django.contrib.auth.models import AbstractUser, AnonymousUser
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from notifications.core import conf
from notifications.core.models import BulkJob, Template
from notifications.core.rules import request
from notifications.core.rules.brand import Brand
from notifications.core.rules.language import locales, variables
from notifications.core.rules.language.variables import Type
from notifications.core.rules.templates import contents, one_off, previews, publishing
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.rules.texts import wording
from notifications.core.rules.texts.mail_blocks import MAX_BLOCK_SOURCE
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.postgres import audit
from notifications.core.store.templates import template_cache, versions
from notifications.features.bulk_jobs import create
from providers.contract import Channel

WRITTEN: Final = "written"
SOURCES: Final = (("template", "a template"), (WRITTEN, "written here, for this job alone"))
"""Choices of the field `text_from`."""
LANGUAGES: Final = range(1, 5)
"""Numbers of the languages in the form; the first one is the default locale."""
CONTENT: Final = "written_text"
"""Key of the `TemplateContent` in the cleaned data; absent without a text, or with a fault."""
_TYPES: Final = {
    str: Type.STRING,
    bool: Type.BOOLEAN,
    int: Type.INTEGER,
    float: Type.NUMBER,
    list: Type.LIST,
    dict: Type.OBJECT,
}
"""Type of a value in JSON -> type of the variable."""
_DECLARE: Final = "choose a template that declares the variables"
"""The remedy for a variable of one language, if the values are in an upload."""
_RIGHTS: Final = ("notifications.add_template", "notifications.publish_template")
_BLOCKS: Final = (
    "Blocks, with empty lines between them: # Heading, **bold**, - list, [link](https://example.com),"
    " ::: button [Label](https://example.com), [Unsubscribe]({{ unsubscribe_url }})."
)


class _Part(NamedTuple):
    """A field of a language."""

    name: str
    channel: Channel
    column: str
    """Field of `TextSource`."""
    label: str
    rows: int = 0
    """Lines of the field; 0: a single line."""
    help_text: str = ""

    @property
    def is_wide(self) -> bool:
        """True for a field as wide as the form."""
        return self.channel in {Channel.EMAIL, Channel.SMS}

    @property
    def is_in_blocks(self) -> bool:
        """True for a mail in blocks, which has buttons that insert blocks."""
        return self.column == "blocks"


_PARTS: Final = (
    _Part("subject", Channel.EMAIL, "title", "E-mail: subject"),
    _Part("mail", Channel.EMAIL, "blocks", "E-mail: text", 8, _BLOCKS),
    _Part("sms", Channel.SMS, "body", "SMS", 3),
    _Part("push_title", Channel.PUSH, "title", "Push: title"),
    _Part("push", Channel.PUSH, "body", "Push: text", 3),
    _Part("inbox_title", Channel.IN_APP, "title", "Inbox: title"),
    _Part("inbox", Channel.IN_APP, "body", "Inbox: text", 3),
)


class Language(NamedTuple):
    """The fields of a language of the form."""

    name: str
    """`the default language`, `language 2` and so on."""
    is_open: bool
    """True for the first language, and for one with a value."""
    locale: forms.BoundField
    parts: list[tuple[_Part, forms.BoundField]]


def fields() -> dict[str, forms.Field]:
    """Return the fields of all languages by name: `text_1_locale`, `text_1_subject` ..."""
    made: dict[str, forms.Field] = {}
    for number in LANGUAGES:
        made[_name(number, "locale")] = forms.CharField(
            label="Language" if number == 1 else f"Language {number}",
            required=False,
            max_length=35,
            initial=locales.DEFAULT if number == 1 else "",
            widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "en, pt-BR"}),
            help_text="Recipients of other languages get this text." if number == 1 else "",
        )
        made |= {_name(number, part.name): _field(part, number) for part in _PARTS}
    return made


def _name(number: int, part: str) -> str:
    return f"text_{number}_{part}"


def _field(part: _Part, number: int) -> forms.CharField:
    widget = (
        UnfoldAdminTextareaWidget(attrs={"rows": part.rows, "dir": "auto"})
        if part.rows
        else UnfoldAdminTextInputWidget(attrs={"dir": "auto"})
    )
    return forms.CharField(
        label=part.label,
        required=False,
        max_length=MAX_BLOCK_SOURCE,
        widget=widget,
        help_text=part.help_text if number == 1 else "",
    )


def languages(form: forms.Form) -> Iterator[Language]:
    """Yield the languages of the form."""
    for number in LANGUAGES:
        locale = form[_name(number, "locale")]
        parts = [(part, form[_name(number, part.name)]) for part in _PARTS]
        has_value = any(
            each.value() or each.errors for each in [locale, *(each for _, each in parts)]
        )
        name = "the default language" if number == 1 else f"language {number}"
        yield Language(name, number == 1 or has_value, locale, parts)


def clean(form: forms.Form, data: dict[str, Any]) -> None:
    """Set `template_id` and `CONTENT` of the cleaned data, and add the faults to the form."""
    data["template_id"] = one_off.name_of(data["job_id"]) if "job_id" in data else ""
    found = list(_faults(data))
    for name, sentence in found:
        if name not in form.errors:
            form.add_error(name, sentence)
    if not found:
        texts = list(_texts(data))
        declared = _declarations(texts, data)
        settings = {"default_locale": _locale(data, 1), "variables": declared}
        known = (_with_segments(text, has_values=bool(declared)) for text in texts)
        data[CONTENT] = contents.content(known, settings)


def _faults(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the field and the sentence of each fault of the languages."""
    seen: set[str] = set()
    for number in LANGUAGES:
        locale, is_written = _locale(data, number), _is_written(data, number)
        place = _name(number, "locale")
        if is_written and not locale:
            yield place, "Give the language of the text, such as en."
        elif locale and not locales.is_known(locale):
            yield place, "Unknown locale. Use a BCP 47 tag such as en, pt-BR or zh-Hant."
        elif is_written and locale in seen:
            yield place, "This language has a text above."
        elif number == 1 and not is_written:
            yield place, "Write a text for one channel at least."
        elif locale and not is_written:
            yield place, "Write a text, or remove the language."
        seen.add(locale)


def _locale(data: Mapping[str, Any], number: int) -> str:
    return locales.normalize(str(data.get(_name(number, "locale")) or ""))


def _is_written(data: Mapping[str, Any], number: int) -> bool:
    return any(data.get(_name(number, part.name)) for part in _PARTS)


def _texts(data: Mapping[str, Any]) -> Iterator[TextSource]:
    for number in LANGUAGES:
        written: dict[Channel, dict[str, Any]] = {}
        for part in _PARTS:
            if words := str(data.get(_name(number, part.name)) or ""):
                written.setdefault(part.channel, {})[part.column] = words
        for channel, columns in written.items():
            source = TextSource(channel=channel, locale=_locale(data, number), **columns)
            yield contents.normalize(source)


def _declarations(texts: Sequence[TextSource], data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return declarations with the values of the job, so that the checks render the true texts.

    No variable is declared if a value is missing, or if an upload has values of its own.
    """
    given = data.get("variables") or {}
    if request.size_fault(given, request.MAX_VARIABLES_BYTES):
        return []  # the checks of the request name the fault
    names = sorted(frozenset[str]().union(*map(wording.mentions, texts)))
    values = [(name, given.get(name)) for name in names]
    if create.has_upload(data.get("audience")) or any(value is None for _, value in values):
        return []
    return [{"name": name, "type": _TYPES[type(value)], "example": value} for name, value in values]


def _with_segments(source: TextSource, *, has_values: bool) -> TextSource:
    """Return an SMS with the segments that the installation permits, if they can be counted.

    The segments of an SMS with unknown values are counted for each recipient.
    """
    if source.channel is not Channel.SMS or not (has_values or not wording.mentions(source)):
        return source
    return dataclasses.replace(source, max_segments=conf.current().sms_max_segments)


def refusal(user: AbstractUser | AnonymousUser) -> str:
    """Return why an operator may not write the text of a job; empty: the operator may.

    The operator adds and publishes a template, and needs the rights for both.
    """
    if not user.has_perms(_RIGHTS):
        return "A text that is written here needs the rights to add and to publish templates."
    if conf.current().publish_needs_second_person:
        return (
            "Choose a template: NOTIFY_PUBLISH_NEEDS_SECOND_PERSON wants another publisher for"
            " each text."
        )
    return ""


def objections(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the objections to publishing the written text, as for a template.

    Returns:
        Field of the form -> sentences.
    """
    found: dict[str, str] = {}
    if CONTENT not in value:
        return found
    content = value[CONTENT]
    try:
        declared = variables.parse_declarations(content.settings["variables"])
    except variables.MalformedDeclaration as error:
        return {"variables": f"{error}."}
    said = publishing.objections(
        content.texts,
        declared=declared,
        public_url=conf.current().public_url,
        url_schemes=conf.current().inbox_url_schemes,
        declare=_DECLARE if create.has_upload(value.get("audience")) else "",
    )
    for objection in dict.fromkeys(said):
        name = _place_of(objection, value)
        found[name] = f"{found[name]} {objection}." if name in found else f"{objection}."
    return found


def _place_of(objection: str, value: Mapping[str, Any]) -> str:
    """Return the field of the text that an objection begins with: `email pt-BR, blocks, line 1`."""
    for number in LANGUAGES:
        for part in reversed(_PARTS):  # the text is before the title
            name = _name(number, part.name)
            label = f"{part.channel.label} {_locale(value, number)}"
            if value.get(name) and objection.startswith((f"{label}:", f"{label},")):
                return name
    return _name(1, "locale")


def warnings(value: Mapping[str, Any], *, brand: Brand) -> Iterator[str]:
    """Yield the warnings of spam filters and mail programs about the written mails."""
    if CONTENT not in value:
        return
    texts = value[CONTENT].texts
    given = previews.samples(texts, ()) | (value.get("variables") or {})
    for text in texts:
        if text.channel is Channel.EMAIL:
            found = previews.preview(text, given, brand=brand).warnings
            yield from (f"{text.label}: {warning}" for warning in found)


def preview_texts(value: Mapping[str, Any]) -> list[TextSource]:
    """Return the written texts, those in the default language first.

    An SMS has the segments that the installation permits.
    """
    most, default = conf.current().sms_max_segments, value[CONTENT].settings["default_locale"]
    return [
        dataclasses.replace(text, max_segments=most) if text.channel is Channel.SMS else text
        for text in sorted(value[CONTENT].texts, key=lambda each: each.locale != default)
    ]


def shown(value: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Let `create` and the dry run find the written text of a draft, which is not stored."""
    if CONTENT not in value or not value["template_id"]:
        return contextlib.nullcontext()
    return template_cache.with_uncommitted(value["template_id"], value[CONTENT], version_id=0)


@contextlib.contextmanager
def stored(value: Mapping[str, Any], *, by: str) -> Iterator[None]:
    """Publish the written text in the caller's transaction, and let `create` pin the version.

    Raises:
        NotPublishable: the text has an objection.
    """
    if CONTENT not in value:
        yield
        return
    content = value[CONTENT]
    made = versions.publish_once(value["job_id"], content, by=by)
    audit.record(by, "publish_template", made, after=audit.facts_of(made))
    with template_cache.with_uncommitted(made.template_id, content, version_id=made.pk):
        yield


def values_of(job: BulkJob) -> dict[str, Any]:
    """Return the fields of the form for the text or the template of a stored job."""
    found = content_of(job)
    if found is None:
        return {"template_id": job.template_id}
    default = found.settings["default_locale"]
    there = sorted({text.locale for text in found.texts}, key=lambda each: (each != default, each))
    values: dict[str, Any] = {"text_from": WRITTEN}
    for number, locale in zip(LANGUAGES, there, strict=False):
        values[_name(number, "locale")] = locale
        by_channel = {text.channel: text for text in found.texts if text.locale == locale}
        for part in _PARTS:
            if part.channel in by_channel:
                values[_name(number, part.name)] = getattr(by_channel[part.channel], part.column)
    return values


def content_of(job: BulkJob) -> TemplateContent | None:
    """Return the text that was written for a job; None for a job with a template.

    A job of the API can have the text of another job, as its template.
    """
    if job.template_id != one_off.name_of(job.pk):
        return None
    version = Template.objects.filter(pk=job.template).first()
    return None if version is None else versions.content_of(version)
