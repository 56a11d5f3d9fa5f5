"""The units of a template for a translator, and the texts of their translations.

    email.title#9f86d081      the subject; after `#` a hash of the source text
    push.body#...             a title or a body
    in_app.action.yes#...     the label of the action `yes`
    email.blocks.3#...        the third text of a mail in blocks (`block_units`)
    email.html#...            the whole HTML of a mail that has no blocks
    email@b.title#...         the subject of the variant b

A file has the hash of each source text in the id of the unit, so an import sees that a source text
has changed since the export. Texts without a letter, such as `{{ text }}`, are copied.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from notifications.core.rules.language import templating
from notifications.core.rules.language.syntax import MAX_SOURCE
from notifications.core.rules.templates import contents
from notifications.core.rules.texts import variants, wording
from notifications.core.rules.texts.wording import TextSource
from notifications.features.template_studio.rules import block_units, placeholders
from notifications.features.template_studio.rules.block_units import BlockPart
from providers.contract import Channel

HASH_LENGTH: Final = 8
"""Hexadecimal digits: of a thousand changed texts, one in four million keeps its hash."""
MOST_FAULTS: Final = 20
"""Faults of a file in an error."""
_MOST_TRIED: Final = 20
"""Texts of a mail that are tried alone; each compiles the mail."""
_LONGEST_ID: Final = 100
"""Characters of an unknown id in an error."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_TITLE, _BODY, _HTML, _BLOCKS, _ACTION = "title", "body", "html", "blocks", "action"
_LABELS: Final = {
    _TITLE: "title",
    _BODY: "text",
    _HTML: "HTML: keep the tags",
    _BLOCKS: "part of the mail, in Markdown",
    _ACTION: "label of a button",
}
_SUBJECT: Final = "subject"
_CHANGES_BLOCKS: Final = (
    "the translation changes the blocks of the mail: keep its lines together, and write \\ before |"
    " and before # - * : at the start of a line"
)
_OPEN_VARIABLE: Final = "translate the words in quotes between {{ and }}"


class WrongTranslation(Exception):
    """The file cannot be imported. Nothing was imported; `faults` has a sentence for each fault."""

    def __init__(self, *faults: str) -> None:
        """Keep the faults."""
        shown = [*faults[:MOST_FAULTS]]
        if len(faults) > MOST_FAULTS:
            shown.append(f"{len(faults) - MOST_FAULTS} more faults")
        super().__init__("\n".join(shown))
        self.faults = faults


class Placeholder(NamedTuple):
    """A kept part of the source, by its number from 1."""

    number: str


Target = Sequence[str | Placeholder]
"""A translation as a file has it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A source text with its translation."""

    name: str
    source: str
    note: str
    target: str = ""
    """The translation so far; empty: none."""

    @property
    def id(self) -> str:
        """Return the name with the hash of the source."""
        digest = hashlib.sha256(self.source.encode()).hexdigest()
        return f"{self.name}#{digest[:HASH_LENGTH]}"

    @property
    def channel(self) -> str:
        """Return the label of the channel, with the variant."""
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        """Return the name without the channel."""
        return self.name.partition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The units of a template in a language, for a language."""

    template_id: str
    source: str
    """Locale of the source texts."""
    target: str
    """Locale of the translations."""
    units: Sequence[Unit]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedFile:
    """The translations of a template in a file; an empty translation is left out."""

    template_id: str
    source: str
    target: str
    targets: Mapping[str, Target] = field(default_factory=dict)
    """By the id of the unit."""


def units_of(texts: Iterable[TextSource], *, source: str, target: str) -> list[Unit]:
    """Return the units of the texts in a locale, with the translations that are there."""
    texts = list(texts)
    there = _by_label(texts, target)
    found: list[Unit] = []
    for text in texts:
        if text.locale == source:
            targets = _targets_there(text, there.get(_label(text)))
            found += (
                replace(unit, target=targets.get(unit.name, "")) for unit in _units_of_text(text)
            )
    return found


def translate(texts: Iterable[TextSource], file: TranslatedFile) -> list[TextSource]:
    """Return the texts with those of the file's target locale.

    A channel or variant without a translation in the file keeps its text in the target locale, if
    any.

    Raises:
        WrongTranslation: a unit is unknown, changed, or not translated beside translated units of
            its channel; or a translation has other variables than its source.
    """
    texts = list(texts)
    sources, there = _by_label(texts, file.source), _by_label(texts, file.target)
    if not sources:
        raise WrongTranslation(f"{file.template_id} has no text in {file.source}")
    faults = list(_unknown(sources.values(), file))
    for label, source in sources.items():
        given, found = _targets_of(source, file.targets)
        faults += found
        if given and not found:
            made = _translate_text(source, given, there.get(label), locale=file.target)
            if isinstance(made, TextSource):
                there[label] = made
            else:
                faults += made
    faults += (fault for _, fault in variants.faults(there.values()))
    if faults:
        raise WrongTranslation(*faults)
    return [*(text for text in texts if text.locale != file.target), *there.values()]


def _label(text: TextSource) -> str:
    """Return the first part of the names of the units of a text."""
    return f"{text.channel.label}@{text.variant}" if text.variant else text.channel.label


def _by_label(texts: Iterable[TextSource], locale: str) -> dict[str, TextSource]:
    return {_label(text): text for text in texts if text.locale == locale}


def _units_of_text(text: TextSource) -> Iterator[Unit]:
    for name, parts in _fields(text).items():
        for part_name, part in _with_names(name, parts):
            if part.is_text and placeholders.has_words(part.text):
                yield Unit(part_name, part.text, _note(text, name, part.text))


def _note(text: TextSource, name: str, source: str) -> str:
    kind = _kind(name)
    is_subject = text.channel is Channel.EMAIL and kind == _TITLE
    variant = f", variant {text.variant}" if text.variant else ""
    notes = [f"{text.channel.label}{variant}, {_SUBJECT if is_subject else _LABELS[kind]}"]
    open_parts = (piece.text for piece in placeholders.pieces(source) if not piece.is_kept)
    if any("{{" in part for part in open_parts):
        notes.append(_OPEN_VARIABLE)
    return "; ".join(notes)


def _fields(text: TextSource) -> dict[str, list[BlockPart]]:
    """Return the parts of each translatable field by the name of the field."""
    label = _label(text)
    found = {f"{label}.{_TITLE}": [BlockPart(text.title, is_text=True)]}
    if text.blocks:
        found[f"{label}.{_BLOCKS}"] = block_units.split(text.blocks)
    else:
        found[f"{label}.{_BODY}"] = [BlockPart(text.body, is_text=True)]
        found[f"{label}.{_HTML}"] = [BlockPart(text.html, is_text=True)]
    for action in text.in_app.actions:
        found[f"{label}.{_ACTION}.{action.id}"] = [BlockPart(action.label, is_text=True)]
    return found


def _with_names(name: str, parts: Sequence[BlockPart]) -> Iterator[tuple[str, BlockPart]]:
    """Yield the parts with their names: the texts of a mail in blocks are numbered."""
    number = 0
    for part in parts:
        number += part.is_text
        yield f"{name}.{number}" if _kind(name) == _BLOCKS else name, part


def _targets_there(source: TextSource, there: TextSource | None) -> dict[str, str]:
    """Return the texts of a translated text by the names of the units of its source.

    A field with other parts than the source has no translation.
    """
    if there is None:
        return {}
    translations = _fields(there)
    found: dict[str, str] = {}
    for name, parts in _fields(source).items():
        own = translations.get(name, [])
        if [_shape(part) for part in parts] == [_shape(part) for part in own]:
            for (unit, _), part in zip(_with_names(name, parts), own, strict=True):
                found[unit] = part.text if part.is_text else found.get(unit, "")
    return found


def _kind(name: str) -> str:
    return name.split(".")[1]


def _shape(part: BlockPart) -> str | None:
    return None if part.is_text else part.text


def _unknown(sources: Iterable[TextSource], file: TranslatedFile) -> Iterator[str]:
    """Yield a fault for each unit of the file that the sources do not have."""
    units = [unit for source in sources for unit in _units_of_text(source)]
    ids, names = {unit.id for unit in units}, {unit.name for unit in units}
    for unit_id in sorted(file.targets.keys() - ids):
        shown = unit_id[:_LONGEST_ID]
        if unit_id.rpartition("#")[0] in names:
            yield f"{shown}: the source text has changed since the export; export again"
        else:
            yield f"{shown}: {file.template_id} has no such text in {file.source}"


def _targets_of(
    source: TextSource, targets: Mapping[str, Target]
) -> tuple[dict[str, str], list[str]]:
    """Return the translations of a text by the name of the unit, and the faults."""
    units = list(_units_of_text(source))
    given: dict[str, str] = {}
    faults: list[str] = []
    if all(unit.id not in targets for unit in units):
        return {}, []
    for unit in units:
        if unit.id not in targets:
            faults.append(f"{unit.id}: the translation is missing")
            continue
        try:
            given[unit.name] = _resolve(unit, targets[unit.id])
        except WrongTranslation as error:
            faults += error.faults
    return given, faults


def _resolve(unit: Unit, target: Target) -> str:
    """Return a translation with the kept parts of its source.

    Raises:
        WrongTranslation: a placeholder or a variable is wrong.
    """
    kept = {str(number): text for number, text in enumerate(placeholders.texts_of(unit.source), 1)}
    for piece in target:
        if isinstance(piece, Placeholder) and piece.number not in kept:
            raise WrongTranslation(f"{unit.id}: the source has no placeholder {piece.number[:20]}")
    parts = [piece if isinstance(piece, str) else kept[piece.number] for piece in target]
    if sum(map(len, parts)) > MAX_SOURCE:
        raise WrongTranslation(f"{unit.id}: longer than {MAX_SOURCE} characters")
    text = "".join(parts)
    if _UNSTORABLE.search(text):
        raise WrongTranslation(f"{unit.id}: a character cannot be stored; save the file as UTF-8")
    faults = [f"{unit.id}: line {each.line}: {each.detail}" for each in templating.check(text)]
    if faults or templating.check(unit.source):
        raise WrongTranslation(*faults or [f"{unit.id}: the source text has a fault"])
    if _statements(text) != _statements(unit.source):
        raise WrongTranslation(f"{unit.id}: keep each part between {{% and %}}, in the same order")
    needs, has = templating.variables_of(unit.source), templating.variables_of(text)
    faults = [f"{unit.id}: the variable {name} is missing" for name in sorted(needs - has)]
    faults += (f"{unit.id}: the source has no variable {name}" for name in sorted(has - needs))
    if faults:
        raise WrongTranslation(*faults)
    return text


def _statements(text: str) -> list[str]:
    """Return conditions and loops: without them, a sentence would reach other recipients."""
    return [each for each in placeholders.texts_of(text) if each.startswith("{%")]


def _translate_text(
    source: TextSource, given: Mapping[str, str], there: TextSource | None, *, locale: str
) -> TextSource | list[str]:
    """Return the translated text, or the faults.

    Links, images and the settings of an SMS are those of the text in the target locale, else those
    of the source.
    """
    fields: dict[str, str] = {}
    for name, parts in _fields(source).items():
        is_blocks = _kind(name) == _BLOCKS
        named = list(_with_names(name, parts))
        made = [
            replace(part, text=given[unit].strip() if is_blocks else given[unit])
            if part.is_text and unit in given
            else part
            for unit, part in named
        ]
        fields[name] = block_units.join(made)
        if is_blocks and not block_units.has_blocks_of(source.blocks, made):
            changing = _changing(source.blocks, named, made)
            return [f"{each}: {_CHANGES_BLOCKS}" for each in changing]
    text = _with_fields(source, there or source, fields, locale=locale)
    return list(wording.fault_sentences(text)) or text


def _changing(
    source: str, named: Sequence[tuple[str, BlockPart]], made: Sequence[BlockPart]
) -> Iterator[str]:
    """Yield the names of the texts of which each alone changes the blocks; else of all."""
    parts = [part for _, part in named]
    changed = [place for place, part in enumerate(parts) if part != made[place]]
    alone = [
        place
        for place in changed[:_MOST_TRIED]
        if not block_units.has_blocks_of(source, [*parts[:place], made[place], *parts[place + 1 :]])
    ]
    yield from (named[place][0] for place in alone or changed)


def _with_fields(
    source: TextSource, settings: TextSource, fields: Mapping[str, str], *, locale: str
) -> TextSource:
    label = _label(source)
    kept = {action.id: action.url for action in settings.in_app.actions}
    actions = [
        action._replace(
            label=fields[f"{label}.{_ACTION}.{action.id}"], url=kept.get(action.id, action.url)
        )
        for action in source.in_app.actions
    ]
    return contents.normalize(
        replace(
            settings,
            locale=locale,
            title=fields[f"{label}.{_TITLE}"],
            blocks=fields.get(f"{label}.{_BLOCKS}", ""),
            body=fields.get(f"{label}.{_BODY}", ""),
            html=fields.get(f"{label}.{_HTML}", ""),
            in_app=settings.in_app._replace(actions=tuple(actions)),
        )
    )
