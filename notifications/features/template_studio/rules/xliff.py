"""XLIFF 1.2: the units of templates for the programs of translators.

    <xliff version="1.2"><file original="order_sent" source-language="en" target-language="de">
      <trans-unit id="push.body#1f2e3d4c">
        <source>Hello <ph id="1">{{ name }}</ph></source>
        <target state="needs-review-translation">Hallo <ph id="1">{{ name }}</ph></target>
        <note>push, text</note>

Version 1.2, because OmegaT, Poedit, Weblate and commercial programs have read it for years; Weblate
calls its support of 2.0 "under development" (https://docs.weblate.org/en/latest/formats/xliff2.html).
Programs show a `ph` as a tag that moves as a whole. An import reads a `ph` or `x` by its id.

The file is parsed by expat without a document type, so it has no entities and loads no other file.
Bytes, elements and depth are bounded. Elements: https://docs.oasis-open.org/xliff/v1.2/os/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat

from notifications.features.template_studio.rules import placeholders
from notifications.features.template_studio.rules.units import (
    Placeholder,
    Target,
    TranslatedFile,
    Translation,
    Unit,
    WrongTranslation,
)

MAX_ELEMENTS: Final = 100_000
"""Elements of a file; a template of twenty texts has about three hundred."""
MAX_DEPTH: Final = 50
"""Elements in each other; a file of a translator's program has about eight."""
_NAMESPACE: Final = "urn:oasis:names:tc:xliff:document:1.2"
_SEPARATOR: Final = "}"
"""Between namespace and name, as in the tags `{namespace}name` of ElementTree."""
_PLACEHOLDERS: Final = frozenset({"ph", "x"})
_UNNAMED: Final = 'the file names no {}: write it as {}="..." on the element file'


def write(translations: Sequence[Translation]) -> bytes:
    """Return the file of the units."""
    root = Element("xliff", {"version": "1.2", "xmlns": _NAMESPACE})
    for each in translations:
        names = {"original": each.template_id, "datatype": "plaintext"}
        languages = {"source-language": each.source, "target-language": each.target}
        body = _below(_below(root, "file", names | languages), "body")
        for unit in each.units:
            _add_unit(body, unit)
    data: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return data


def read(data: bytes) -> list[TranslatedFile]:
    """Return the translations of a file.

    Raises:
        WrongTranslation: the file is no XLIFF 1.2, too large, or names no template or language.
    """
    root = _parse(data)
    if root.tag != _name("xliff"):
        raise WrongTranslation(_other_root(root))
    files = [_file(each) for each in root.iter(_name("file"))]
    if not files:
        raise WrongTranslation("the XLIFF file has no element file")
    return files


def _add_unit(body: Element, unit: Unit) -> None:
    added = _below(
        body, "trans-unit", {"id": unit.id, "resname": unit.name, "xml:space": "preserve"}
    )
    kept = placeholders.texts_of(unit.source)
    _fill(_below(added, "source"), unit.source, kept)
    if unit.target and set(placeholders.texts_of(unit.target)) <= set(kept):
        _fill(_below(added, "target", {"state": "needs-review-translation"}), unit.target, kept)
    _below(added, "note").text = unit.note


def _below(parent: Element, tag: str, attributes: Mapping[str, str] | None = None) -> Element:
    """Add an element on a line of its own."""
    added = Element(tag, dict(attributes or {}))
    added.tail = "\n"
    parent.text = parent.text or "\n"
    parent.append(added)
    return added


def _fill(element: Element, text: str, kept: Sequence[str]) -> None:
    """Write a text with a `ph` for each part that the source keeps."""
    last: Element | None = None
    for piece in placeholders.pieces(text):
        if piece.is_kept:
            last = Element("ph", {"id": str(kept.index(piece.text) + 1)})
            last.text = piece.text if piece.text.isprintable() else ascii(piece.text)
            element.append(last)
        elif last is None:
            element.text = (element.text or "") + piece.text
        else:
            last.tail = (last.tail or "") + piece.text


def _parse(data: bytes) -> Element:
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    bounds = _Bounds(builder)
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = bounds.start
    parser.EndElementHandler = bounds.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat's parameter has no name
    except expat.ExpatError as error:
        raise WrongTranslation(f"the file is no XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise WrongTranslation(f"the file cannot be read: {error}; save it as UTF-8") from error
    return builder.close()


class _Bounds:
    """Builds elements, up to a number and a depth."""

    def __init__(self, builder: TreeBuilder) -> None:
        self._builder = builder
        self._count = 0
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        self._depth += 1
        if self._count > MAX_ELEMENTS or self._depth > MAX_DEPTH:
            raise WrongTranslation(
                f"the file has more than {MAX_ELEMENTS} elements, or more than {MAX_DEPTH} in each"
                " other"
            )
        self._builder.start(_tag(name), attributes)

    def end(self, name: str) -> None:
        self._depth -= 1
        self._builder.end(_tag(name))


def _refuse_document_type(*_: object) -> None:
    raise WrongTranslation("the file has a document type (<!DOCTYPE ...>): remove it")


def _other_root(root: Element) -> str:
    if root.tag.rpartition(_SEPARATOR)[2] == "xliff":
        version = root.get("version", "?")[:8]
        return f"the file is XLIFF {version}: save it as XLIFF 1.2"
    return "the file is no XLIFF: its first element is not xliff"


def _file(element: Element) -> TranslatedFile:
    original, source, target = (
        element.get(name, "").strip() for name in ("original", "source-language", "target-language")
    )
    if not original:
        raise WrongTranslation(_UNNAMED.format("template", "original"))
    if not source or not target:
        missing = "target-language" if source else "source-language"
        raise WrongTranslation(_UNNAMED.format("language", missing))
    targets: dict[str, Target] = {}
    for unit in element.iter(_name("trans-unit")):
        unit_id, found = unit.get("id", ""), unit.find(_name("target"))
        if unit_id in targets:
            raise WrongTranslation(f"{unit_id[:100]}: the file has two units with this id")
        if found is not None and any(_is_text(piece) for piece in _pieces(found)):
            targets[unit_id] = tuple(_pieces(found))
    return TranslatedFile(template_id=original, source=source, target=target, targets=targets)


def _is_text(piece: str | Placeholder) -> bool:
    return not isinstance(piece, str) or bool(piece.strip())


def _pieces(element: Element) -> Iterator[str | Placeholder]:
    """Yield the texts and the placeholders of an element; other elements count by their texts."""
    yield element.text or ""
    for child in element:
        number = child.get("id", "")
        if child.tag.rpartition(_SEPARATOR)[2] in _PLACEHOLDERS:
            yield Placeholder(number)
        else:
            yield from _pieces(child)
        yield child.tail or ""


def _name(tag: str) -> str:
    return _tag(f"{_NAMESPACE}{_SEPARATOR}{tag}")


def _tag(name: str) -> str:
    """Return the tag of an element of which expat gives namespace and name."""
    return f"{{{name}" if _SEPARATOR in name else name
