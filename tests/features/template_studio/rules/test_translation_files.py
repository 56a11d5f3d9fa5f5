"""Files as the programs of translators write them are read; others are refused by a sentence."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from notifications.core.rules.templates import contents
from notifications.features.template_studio.rules import unit_csv, units, xliff
from notifications.features.template_studio.rules.units import (
    Translation,
    Unit,
    WrongTranslation,
)
from providers.contract import Channel

PUSH = contents.words(
    Channel.PUSH, "en", title="Hi", body="{{ n }} of {{ all }} <b> are {% if due %}late{% endif %}"
)
TITLE, BODY = (unit.id for unit in units.units_of([PUSH], source="en", target="de"))
NAMESPACE = 'xmlns="urn:oasis:names:tc:xliff:document:1.2"'

XLIFF = Path(__file__).parent / "xliff"


def document(unit: str = "", *, attributes: str = 'target-language="de"', begin: str = "") -> str:
    return (
        f'{begin}<xliff {NAMESPACE} version="1.2"><file original="order" source-language="en"'
        f" {attributes}><body>{unit}</body></file></xliff>"
    )


def unit(inner: str, unit_id: str = TITLE) -> str:
    return f'<trans-unit id="{unit_id}"><source>Hi</source><target>{inner}</target></trans-unit>'


@pytest.mark.parametrize("program", ["omegat", "weblate", "poedit"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_of_a_translators_program_is_read(program: str, encoding: str) -> None:
    text = (XLIFF / f"{program}.xlf").read_text()
    if encoding == "utf-16":
        text = text.replace("UTF-8", "UTF-16")
    [file] = xliff.read(text.encode(encoding))
    assert (file.template_id, file.source, file.target.lower()) == ("order", "en", "de")
    german = units.translate([PUSH], file)[-1]
    assert german.title == "Hallo"
    assert german.body == "Von {{ all }} sind {{ n }} <b> {% if due %}spät{% endif %}"


ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
BOMB = '<!DOCTYPE x [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
DEEP = "<g>" * xliff.MAX_DEPTH + "</g>" * xliff.MAX_DEPTH


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (document(unit("&e;"), begin=ENTITY), "document type"),
        (document(unit("&b;"), begin=BOMB), "document type"),
        (
            document(begin='<!-- <a --><!DOCTYPE xliff SYSTEM "http://127.0.0.1:1/x.dtd">'),
            "document",
        ),
        (document(unit("&e;")), "the file is no XML: undefined entity: line 1"),
        ("", "the file is no XML: no element found"),
        ("<xliff", "the file is no XML: unclosed token: line 1, column 0"),
        ('<?xml version="1.0" encoding="klingon"?><x/>', "unknown encoding"),
        ('<?xml version="1.0" encoding="utf-7"?><x/>', "save it as UTF-8"),
        ("<html/>", "the file is no XLIFF: its first element is not xliff"),
        (
            '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0"/>',
            "the file is XLIFF 2.0: save it as XLIFF 1.2",
        ),
        (f'<xliff {NAMESPACE} version="1.2"/>', "no element file"),
        (document(attributes=""), 'write it as target-language="..."'),
        (document().replace('original="order"', ""), 'write it as original="..."'),
        (document(unit("a") + unit("b")), "two units with this id"),
        (document(unit(DEEP)), "more than 50 in each other"),
        (document("<g/>" * xliff.MAX_ELEMENTS), "more than 100000 elements"),
    ],
)
def test_another_file_is_refused_with_a_sentence(text: str, told: str) -> None:
    with pytest.raises(WrongTranslation, match=told.replace("(", r"\(")):
        xliff.read(text.encode())


@pytest.mark.parametrize("number", ["5", "0", "", "x" * 50, "²"])
def test_a_placeholder_that_the_source_does_not_have_is_refused(number: str) -> None:
    [file] = xliff.read(document(unit(f'<ph id="{number}"/>') + unit("x", BODY)).encode())
    with pytest.raises(WrongTranslation, match="the source has no placeholder"):
        units.translate([PUSH], file)


def test_an_empty_target_is_no_translation() -> None:
    [file] = xliff.read(document(unit(" \n ") + "<trans-unit id='x'/>").encode())
    assert file.targets == {}


HEAD = "id,template,source_language,target_language,target"
LINES = f"{HEAD}\n{TITLE},order,en,de,Hallo\n"


@pytest.mark.parametrize(
    "data",
    [
        LINES.replace("\n", "\r\n").encode(),
        codecs.BOM_UTF8 + LINES.encode(),
        LINES.replace(",", ";").encode(),
        codecs.BOM_UTF16_LE + LINES.replace(",", "\t").encode("utf-16-le"),
    ],
    ids=["LibreOffice", "Excel", "Excel with semicolons", "Excel's Unicode text"],
)
def test_a_file_of_a_spreadsheet_is_read(data: bytes) -> None:
    [file] = unit_csv.read(data)
    assert (file.template_id, file.source, file.target) == ("order", "en", "de")
    assert dict(file.targets) == {TITLE: ("Hallo",)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the first line must name the columns"),
        ("id,target\nx,y", "source_language"),
        (HEAD, "no line below the names"),
        (f"{HEAD}\nx,order,en,de,a\nx,order,en,de,b", "line 3: the id x stands twice"),
        (f'{HEAD}\nx,order,en,de,"a', "is a quote not closed"),
        (f'{HEAD}\nx,order,en,de,"a"b', "line 2: invalid CSV"),
        (f"{HEAD}\nx,order,en,de,Hallo, Welt", "line 2 has 6 cells"),
        (f"{HEAD}\nx,order,en,de,f\udcfcr", "line 2 is not UTF-8"),
    ],
)
def test_another_csv_is_refused_with_a_sentence(text: str, told: str) -> None:
    with pytest.raises(WrongTranslation, match=told):
        unit_csv.read(text.encode(errors="surrogateescape"))


def test_no_cell_is_a_formula() -> None:
    evil = [Unit("push.title", text, "note") for text in ("=1+1", "@SUM(A1)", "a;=1", "\t=1")]
    out = Translation(template_id="order", source="en", target="de", units=evil)
    lines = unit_csv.write([out]).decode("utf-8-sig")
    assert ",'=1+1," in lines
    assert ",'@SUM(A1)," in lines
    assert "a;'=1" in lines
    assert "'\t'=1" in lines
