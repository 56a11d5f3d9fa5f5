"""The cost of inlining the style sheets of a mail, estimated before the native inliner runs.

The inliner holds Python's interpreter lock, and a selector can cost more than its length: for
`a ~ b` and `:not(a b)` each element looks at all earlier ones. So style sheets are inlined only if
their tokens are certain and the upper bound of the work is at most MAX_WORK, the comparison of the
attributes included; otherwise the style sheets stay as the author wrote them. Selectors inside
at-rules are never matched.

The prices are measured with css_inline 0.23.1 on one core of a shared server, rounded up.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final

from notifications.core.rules.texts.mail_markup import STATEMENT, Markup
from providers import graphemes

MAX_WORK: Final = 100_000_000
"""Nanoseconds, upper bound."""
_BUILD: Final = 800
"""Nanoseconds to read an element and to write it."""
_VISIT: Final = 20
"""Nanoseconds to compare an element with one term of a selector."""
_FIND: Final = 2
"""Nanoseconds to compare a declaration with one that an element has."""
_MERGE: Final = 4
"""Nanoseconds to do so in a style attribute."""
_READ: Final = 2
"""Nanoseconds to read or to copy a character."""
_CERTAIN: Final = re.compile(
    r"""
    (?P<comment> /\*(?:[^*]++|\*(?!/))*\*/ )
    | (?P<opaque>
        "(?:[^"\\{}\n\r\f]++|\\[0-9a-f"'\\])*" | '(?:[^'\\{}\n\r\f]++|\\[0-9a-f"'\\])*'
        | (?<=[\w%)])\\9(?=\s*+[;}!])               # old Internet Explorer's width:1px\9
        | (?<=url)\((?:[^"'(){}\[\]\\/\f]++|/(?!\*))*\)
        | (?<=url)\([ ]*+(?:"[^"\\{}\n\r\f]*+"|'[^'\\{}\n\r\f]*+')[ ]*+\)
    )
    | (?P<escape> \\[^\w\s{}] )                 # Tailwind's .sm\:w-full
    | [^"'\\/(\f]++ | (?<!url)\( | /(?!\*)
    """,
    re.VERBOSE,
)
"""A part of a style sheet of which this module and each parser of CSS have the same opinion."""
_SPACE: Final = " \t\n\r\f"
"""CSS's; Python's `strip()` takes away letters of CSS, too."""
_BRACKET: Final = re.compile(r"[(){}\[\];]")
_BODY_END: Final = re.compile("[;{}]")
_AT_RULE: Final = re.compile("@-?[a-z_]")
_CLOSED_BY: Final = {"(": ")", "[": "]", "{": "}"}
_COMBINATORS: Final = " >+~"
_TERMS: Final = ".#[:*|(\0" + _COMBINATORS
_NTH: Final = re.compile(r"\((?:[-+\dn ]*+|odd|even)\)")
_SIMPLE_ARGUMENT: Final = re.compile(r"\(([^ >+~()]*+)\)")
_SIMPLE_LIST: Final = re.compile(
    r":(?:not|is|where)\(\s*+(?:[^\s>+~(),]++\s*+,\s*+)+[^\s>+~(),]++\s*+\)"
)
_COMMA_IN_LIST: Final = "\0"
_IGNORES_CASE: Final = re.compile(r"[ _]i ?\]")
_MOST_POWERS: Final = 40
_SHOWN: Final = 60
"""Characters of a selector in a message."""


class _Uncertain(Exception):
    """The end of a quote, an escape or a bracket is not certain."""


def fault(markup: Markup) -> str:
    """Return why the style sheets of a mail are not inlined, as a clause; empty if they are."""
    if markup.attributes > MAX_WORK:
        return (
            "too much work for the attributes of the tags; "
            "elements such as <b> that are not closed repeat theirs"
        )
    if any(STATEMENT in sheet for sheet in markup.sheets):
        return "a style sheet has a statement"
    try:
        rules = list(_rules_of_all([_plain(sheet).strip(_SPACE) for sheet in markup.sheets]))
    except _Uncertain:
        return "the end of a quote, an escape or a bracket in a style sheet is not certain"
    bodies = [_BODY_END.split(body) for _, body in rules]
    names = len({part.partition(":")[0].strip() for body in bodies for part in body})
    elements = markup.elements + 3  # html, head and body
    size = sum(len(body) for _, body in rules)
    merging = names * (names + markup.widest_tag // 4) * _MERGE
    work = markup.attributes + elements * (_BUILD + size * _READ + merging)
    for (prelude, _), body in zip(rules, bodies, strict=True):
        writing = elements * len(body) * (_VISIT + names * _FIND)
        for selector in _SIMPLE_LIST.sub(_in_one_piece, prelude).split(","):
            work += writing + _matching(" ".join(selector.split()), markup)
            if work > MAX_WORK:
                return f"too much work for {elements} elements; the limit is reached at" + _excerpt(
                    selector
                )
    return ""


def _excerpt(selector: str) -> str:
    shown = " ".join(selector.split()).replace(_COMMA_IN_LIST, ",")
    return f" the selector {graphemes.cut(shown, _SHOWN)}"


def _in_one_piece(found: re.Match[str]) -> str:
    """Return a list of simple selectors without space, and with a term in place of each comma."""
    return "".join(found[0].split()).replace(",", _COMMA_IN_LIST)


def _plain(sheet: str) -> str:
    """Return a style sheet without comments, and with a word in place of quotes and addresses.

    Raises:
        _Uncertain: parsers may have different opinions of a part.
    """
    kept: list[str] = []
    at = 0
    while at < len(sheet):
        found = _CERTAIN.match(sheet, at)
        if found is None:
            raise _Uncertain
        stands_for = {"comment": " ", "opaque": "_" * len(found[0]), "escape": "\\"}
        kept.append(stands_for.get(found.lastgroup or "", found[0]))
        at = found.end()
    return "".join(kept)


def _rules_of_all(sheets: list[str]) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of each rule outside of at-rules, of all style sheets.

    The inliner joins the sheets: after a sheet that ends with `p ~`, the next one begins with the
    rest of the selector, and after a lone } the `@page, p {}` of the next one is a rule for p.

    Raises:
        _Uncertain: as `_rules`, or the rules of a sheet depend on the sheet before.
    """
    has_at_rule_first = any(sheet.startswith("@") for sheet in sheets)
    for sheet in sheets:
        rest = (yield from _rules(sheet)).removesuffix("-->")
        runs_on = rest.strip(_SPACE + ";}") or (rest and has_at_rule_first)
        if runs_on and len(sheets) > 1:
            raise _Uncertain


def _rules(sheet: str) -> Generator[tuple[str, str], None, str]:
    """Yield selectors and declarations of the rules outside of at-rules; return the rest.

    Raises:
        _Uncertain: a bracket is not closed, or an escape is part of a declaration.
    """
    prelude, begin = "", 0
    for sign, at in _ends(sheet):
        piece = sheet[begin:at].strip(_SPACE)
        if sign == ";" and not _AT_RULE.match(piece):
            continue
        begin = at + 1
        if sign == "{":
            prelude = piece
        elif sign == "}" and not _AT_RULE.match(prelude):
            if "\\" in piece:
                raise _Uncertain
            yield prelude, piece
    return sheet[begin:].strip(_SPACE)


def _ends(sheet: str) -> Iterator[tuple[str, int]]:
    """Yield { } and ; outside of other brackets, with their positions.

    The end of the sheet closes every {, and a lone } there is ignored, as in browsers.

    Raises:
        _Uncertain: another bracket is not closed.
    """
    closing: list[str] = []
    for found in _BRACKET.finditer(sheet):
        sign = found[0]
        if sign == "}" and not closing and found.end() == len(sheet):
            return
        _nest(sign, closing)
        if sign in "{};" and len(closing) == (sign == "{"):
            yield sign, found.start()
    if not {"}"}.issuperset(closing):
        raise _Uncertain
    if closing:
        yield "}", len(sheet)


def _nest(sign: str, closing: list[str]) -> None:
    """Add the end of a bracket to the ends of open brackets, or take the last end away.

    Raises:
        _Uncertain: another bracket is open, or none is.
    """
    within = closing[-1] if closing else ""
    if within in {")", "]"} and sign in "{};":
        raise _Uncertain
    if sign in _CLOSED_BY:
        closing.append(_CLOSED_BY[sign])
    elif sign == within:
        closing.pop()
    elif sign != ";":
        raise _Uncertain


def _matching(selector: str, markup: Markup) -> int:
    """Return nanoseconds to match a selector with all elements, at most.

    `a ~ b` looks at all earlier siblings, a combinator within `:not()` at anything earlier.
    """
    for sign in ">+~":
        selector = selector.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    plain = _SIMPLE_ARGUMENT.sub(r"\1", _NTH.sub("", selector))
    tildes = plain.count("~") - plain.count("~=")
    powers = min(tildes + plain.count("("), _MOST_POWERS)
    last = 1 + max(plain.rfind(sign) for sign in _COMBINATORS)
    before = plain[:last]
    # `+`, `:empty` and the like step over comments.
    gaps = 1 + (markup.widest_gap // 2 if "+" in plain or ":" in plain else 0)
    once = _terms(plain[last:]) * markup.once + _reading(plain[last:], markup) * markup.elements
    pairs = markup.with_ancestors // _VISIT
    above = _terms(before) * markup.with_ancestors + _reading(before, markup) * pairs
    pairs_of_elements: int = (markup.elements + 3) ** powers
    return (once + (above if before else 0)) * gaps * pairs_of_elements


def _terms(part: str) -> int:
    return 1 + sum(map(part.count, _TERMS))


def _reading(part: str, markup: Markup) -> int:
    """Return nanoseconds to read the attributes of one element, besides its classes."""
    reads = part.count("[") * _READ + part.count("#")
    ignores_case = _IGNORES_CASE.search(part) is not None
    return reads * markup.widest_tag * (1 + len(part) // 8 * ignores_case)
