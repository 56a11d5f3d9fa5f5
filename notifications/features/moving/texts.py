"""A template of an export, built text by text as the files of `import_templates`.

    texts = Texts(place, template_id, convert=handlebars.convert)
    texts.add(Channel.EMAIL, place, Source(title=subject, html=body))
    yield from texts.parts()

A text that cannot be converted is a part that is not understood, and the other texts stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.utils.text import slugify

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.templates import file_format
from notifications.core.rules.templates.contents import LINKED, UNTITLED
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.rules.texts import mail_text
from notifications.features.moving.export import ExportPlace, Found, NotUnderstood, TemplateItem
from notifications.features.moving.languages.converted import NotConvertible
from providers.contract import Channel

_MARKUP: Final = re.compile(r"<[a-zA-Z!/]")
LOCALE: Final = "en"
"""Language of the texts: the exports name no language, and `en` is the default of a template."""
LONGEST_ID: Final = 64


def template_id(name: str) -> str:
    """Return the id of a template for a name: `Order shipped` gives `order-shipped`."""
    kept = name if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) else slugify(name)
    return kept[:LONGEST_ID].strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The sources of a text, in the language of the vendor."""

    title: str = ""
    """Subject or title."""
    body: str = ""
    """Plain text."""
    html: str = ""
    """HTML of a mail."""
    part: Mapping[str, Any] = field(default_factory=dict)
    """Link, image and actions: see `rules.templates.file_format`."""


class Texts:
    """The texts of one template, with the faults of the others."""

    def __init__(self, place: ExportPlace, name: str, *, convert: Callable[[str], str]) -> None:
        """Begin a template; `convert` converts the sources of all texts."""
        self._place = place
        self._id = template_id(name)
        self._convert = convert
        self._faults: list[Found] = []
        self._files: dict[str, str] = {}

    def fault(self, place: ExportPlace, why: str) -> None:
        """Add a part that is not understood."""
        self._faults.append(NotUnderstood(place, why))

    def add(
        self,
        channel: Channel,
        place: ExportPlace,
        source: Source,
    ) -> None:
        """Add a text; the text of a mail with HTML alone is made of the HTML."""
        name = f"{channel.label}.{LOCALE}"
        if f"{name}.txt" in self._files:
            self.fault(place, f"a second text for {channel.label}; one message has one")
            return
        try:
            files = self._files_of(name, channel, source)
            file_format.parse(files)
        except (NotConvertible, BrokenTemplate, BrokenFiles) as error:
            self.fault(place, str(error))
            return
        self._files |= files

    def parts(self) -> Iterator[Found]:
        """Yield the faults, then the template if a text is left."""
        yield from self._faults
        if not self._id:
            yield NotUnderstood(self._place, "the template has no name of letters or digits")
        elif self._files:
            yield TemplateItem(place=self._place, template_id=self._id, files=self._files)
        elif not self._faults:
            yield NotUnderstood(self._place, "the template has no text")

    def _files_of(self, name: str, channel: Channel, source: Source) -> dict[str, str]:
        texts = (source.title, source.body, source.html)
        title, body, html = (self._convert(text.replace("\r\n", "\n")) for text in texts)
        title = " ".join(title.split())
        if channel is not Channel.EMAIL and _MARKUP.search(body):
            raise BrokenFiles(f"{name}: HTML; texts of this channel are plain")
        if html and not body:
            body = mail_text.text_of(html)
        files = {f"{name}.txt": body if channel in UNTITLED else f"{title}\n\n{body}"}
        if html:
            files[f"{name}.html"] = html
        converted = _each_text(source.part, self._convert)
        if converted and channel in LINKED:
            files[f"{name}.json"] = orjson.dumps(converted).decode()
        return {name: text if text.endswith("\n") else f"{text}\n" for name, text in files.items()}


def _each_text(value: Any, convert: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    """Convert the texts of a link, image or action; empty values are left out."""
    if isinstance(value, str):
        return convert(value)
    if isinstance(value, Mapping):
        return {name: _each_text(each, convert) for name, each in value.items() if each}
    return [_each_text(each, convert) for each in value]
