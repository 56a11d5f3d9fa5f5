"""Filters for values in the reader's language: CLDR's rules, through Babel.

    {{ n }} {{ n|plural(one="item", other="items") }}     whichever forms the language has
    {{ n|number }}   {{ n|number(2) }}   {{ share|percent }}
    {{ price|money("EUR") }}   {{ total|money }}      total: {"amount": "9.90", "currency": "EUR"}
    {{ at|date }}   {{ at|time("short") }}   {{ at|datetime("long") }}      ISO 8601; short to full
    {{ names|listed }}   {{ names|listed("or") }}

Language and timezone are the reader's. A filter writes at most a few times its input and takes
under a tenth of a millisecond; a value of another type is a RenderError.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

from babel import Locale, dates, lists, numbers
from jinja2 import Environment, pass_context, pass_environment
from jinja2.filters import FILTERS
from jinja2.runtime import Context, Undefined

from notifications.core.rules.language import locales
from notifications.core.rules.times import local_time
from providers import graphemes

READER: Final = "_reader"
"""Context key of a render's reader; no variable's name begins with an underscore."""
PLURALS: Final = frozenset({"zero", "one", "two", "few", "many", "other"})
"""CLDR's plural categories. Each language uses some; all use `other`."""
MAX_LISTED: Final = 100
"""Items of one `listed`, because Babel copies its text for each item."""
MAX_FRACTION: Final = 15
"""Digits after the point that a float can hold."""
_LENGTHS: Final = ("short", "medium", "long", "full")
_JOINTS: Final[Mapping[str, Literal["standard", "or"]]] = {"and": "standard", "or": "or"}

_LONGEST_CLUSTER: Final = 64
"""Code points that `first_of` reads: no writing system has a longer cluster."""


class RenderError(Exception):
    """The template cannot be rendered with these variables; a retry gives the same error."""


class Reader(NamedTuple):
    """The recipient's locale and timezone for formatting values."""

    locale: str = locales.DEFAULT
    """BCP 47; an unknown locale is written like English."""
    timezone: str = "UTC"
    """Name in tzdata; an unknown or empty one counts as UTC."""
    plain_characters: bool = False
    """SMS: the filters write plain spaces and apostrophes. One no-break space (`7:30 PM`, `9,90 €`)
    makes an SMS UCS-2, with less than half of the characters in a segment."""


_PLAIN: Final = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2019": "'"})
"""CLDR's characters beside letters that GSM-7 has no place for."""


def filters() -> dict[str, Callable[..., str]]:
    """Return the filters by name."""
    return {
        "plural": _plural,
        "number": _number,
        "percent": _percent,
        "money": _money,
        "date": _date,
        "time": _time,
        "datetime": _datetime,
        "listed": _join_list,
    }


def instant(text: object) -> dt.datetime:
    """Parse an ISO 8601 instant with an offset.

    Raises:
        ValueError: not an instant.
    """
    read = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    if read is None or read.tzinfo is None:
        raise ValueError('must be an ISO 8601 instant with its offset, "2026-03-01T09:30:00Z"')
    return read


def day(text: object) -> dt.date:
    """Read an ISO 8601 calendar day.

    Raises:
        ValueError: not a day.
    """
    if not isinstance(text, str):
        raise ValueError('must be an ISO 8601 day, "2026-03-01"')  # noqa: TRY004 - as for a bad text
    return dt.date.fromisoformat(text)


def amount(value: object) -> tuple[Decimal, str]:
    """Read `{"amount": "9.90", "currency": "EUR"}`; the amount may also be a number.

    Raises:
        ValueError: another form, or an unknown currency.
    """
    if not isinstance(value, dict) or not {"amount", "currency"} <= value.keys():
        raise ValueError('must be {"amount": "9.90", "currency": "EUR"}')
    return _decimal(value["amount"]), _currency(value["currency"])


def _currency(code: object) -> str:
    if not isinstance(code, str) or not numbers.is_currency(code):
        raise ValueError('must have an ISO 4217 currency such as "EUR"')
    return code


def _decimal(value: object) -> Decimal:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value)
        read = Decimal(text) if len(text) <= _LONGEST_NUMBER else Decimal("NaN")
        # Babel writes out every digit that an exponent stands for.
        if read.is_finite() and abs(read.adjusted()) <= _LONGEST_NUMBER:
            return read
    raise ValueError(f"must be a number of at most {_LONGEST_NUMBER} digits")


_LONGEST_NUMBER: Final = 40
"""Digits, with point and sign."""


def _numeric(value: object) -> Decimal:
    _require_value(value)
    if isinstance(value, str):
        raise RenderError("a filter for numbers was given a text")
    try:
        return _decimal(value)
    except ValueError as error:
        raise RenderError(f"a number {error}") from None


def _require_value(value: object) -> None:
    if isinstance(value, Undefined):
        str(value)  # says that it is missing


def _reader(context: Context) -> tuple[Locale, Reader]:
    reader: Reader = context[READER]
    return locales.cldr(reader.locale), reader


_ITEM: Final = "\ue000"
"""Stands for an item of a list, whose own characters stay."""


def _plain(text: str, reader: Reader) -> str:
    return text.translate(_PLAIN) if reader.plain_characters else text


@pass_context
def _plural(context: Context, value: Any, **forms: str) -> str:  # noqa: ANN401 - any JSON value
    locale, _ = _reader(context)
    return forms.get(locale.plural_form(_numeric(value)), forms["other"])


@pass_context
def _number(context: Context, value: Any, digits: int | None = None) -> str:  # noqa: ANN401 - any JSON value
    locale, reader = _reader(context)
    pattern = (
        None if digits is None else _fix_digits(str(locale.decimal_formats[None].pattern), digits)
    )
    return _plain(numbers.format_decimal(_numeric(value), format=pattern, locale=locale), reader)


@pass_context
def _percent(context: Context, value: Any, digits: int = 0) -> str:  # noqa: ANN401 - any JSON value
    locale, reader = _reader(context)
    pattern = _fix_digits(str(locale.percent_formats[None].pattern), digits)
    return _plain(numbers.format_percent(_numeric(value), format=pattern, locale=locale), reader)


def _fix_digits(pattern: str, digits: int) -> str:
    """Set the digits after the point of CLDR's pattern: `#,##0.###` is `#,##0.00` for two.

    Raises:
        RenderError: no float has that many digits.
    """
    if digits not in range(MAX_FRACTION + 1):
        raise RenderError(f"numbers take 0 to {MAX_FRACTION} digits after the point")
    whole, _, fraction = pattern.partition(".")
    point, after = ("." if digits else ""), fraction.lstrip("0#")
    if fraction:
        return whole + point + "0" * digits + after
    last = whole.rindex("0") + 1
    return whole[:last] + point + "0" * digits + whole[last:]


@pass_context
def _money(context: Context, value: Any, currency: str = "") -> str:  # noqa: ANN401 - any JSON value
    _require_value(value)
    locale, reader = _reader(context)
    try:
        much, code = amount({"amount": value, "currency": currency} if currency else value)
    except ValueError as error:
        raise RenderError(f"money {error}") from None
    return _plain(numbers.format_currency(much, code, locale=locale), reader)


@pass_context
def _date(context: Context, value: Any, length: str = "medium") -> str:  # noqa: ANN401 - any JSON value
    locale, reader = _reader(context)
    _require_value(value)
    try:
        moment = day(value)
    except ValueError:
        moment = _moment(value, reader)
    return _plain(dates.format_date(moment, _length(length), locale=locale), reader)


@pass_context
def _time(context: Context, value: Any, length: str = "short") -> str:  # noqa: ANN401 - any JSON value
    locale, reader = _reader(context)
    moment = _moment(value, reader)
    text = dates.format_time(moment, _length(length), tzinfo=moment.tzinfo, locale=locale)
    return _plain(text, reader)


@pass_context
def _datetime(context: Context, value: Any, length: str = "medium") -> str:  # noqa: ANN401 - any JSON value
    locale, reader = _reader(context)
    moment = _moment(value, reader)
    text = dates.format_datetime(moment, _length(length), tzinfo=moment.tzinfo, locale=locale)
    return _plain(text, reader)


def _moment(value: object, reader: Reader) -> dt.datetime:
    _require_value(value)
    try:
        return instant(value).astimezone(local_time.zone(reader.timezone))
    except ValueError:
        detail = 'dates and times are written "2026-03-01" or "2026-03-01T09:30:00Z"'
        raise RenderError(detail) from None  # Python's own error quotes the value


def _length(length: str) -> Any:  # noqa: ANN401 - Babel's type lists these words
    if length not in _LENGTHS:
        raise RenderError(f"dates and times are {', '.join(_LENGTHS)}")
    return length


@pass_context
def _join_list(context: Context, value: Any, joint: str = "and") -> str:  # noqa: ANN401 - any JSON value
    _require_value(value)
    locale, reader = _reader(context)
    if not isinstance(value, list) or len(value) > MAX_LISTED:
        raise RenderError(f"listed is for lists of at most {MAX_LISTED} items")
    if joint not in _JOINTS:
        raise RenderError(f"listed joins by {' or '.join(_JOINTS)}")
    joints = lists.format_list([_ITEM] * len(value), style=_JOINTS[joint], locale=locale)
    first, *others = _plain(joints, reader).split(_ITEM)
    return first + "".join(str(item) + after for item, after in zip(value, others, strict=True))


def truncate_text(
    value: str,
    length: int = 255,
    killwords: bool = False,  # noqa: FBT001, FBT002 - the order of Jinja's arguments
    end: str = "...",
    leeway: int = 5,
) -> str:
    """Cut a text as Jinja's `truncate` does: the same arguments and lengths in code points.

    Raises:
        RenderError: `length` has no room for `end`, or `leeway` is negative.
    """
    if length < len(end) or leeway < 0:
        raise RenderError(f"truncate takes a length of {len(end)} or more and no negative leeway")
    if len(value) <= length + leeway:
        return value
    kept = value[: graphemes.last_end(value, length - len(end))]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + end


@pass_environment
def first_of(environment: Environment, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the first item of a list, or the first character of a text.

    `truncate`, `first` and slices cut between grapheme clusters, so `{{ name[:1] }}` is a whole
    first character.
    """
    if isinstance(value, str) and value:
        return value[: graphemes.next_end(value[:_LONGEST_CLUSTER], 1)]
    return FILTERS["first"](environment, value)


class Sliceable:
    """A text of which a slice is taken next.

    `x[:n]` ends after the cluster that position `n` is in, so `x[:n]` with `x[n:]` is the whole
    text. A slice with a step is Python's.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, taken: slice) -> str:
        """Return the slice with its ends moved to the next end of a cluster."""
        if taken.step not in {None, 1}:
            return self._text[taken]
        start, stop, _ = taken.indices(len(self._text))
        return self._text[
            graphemes.next_end(self._text, start) : graphemes.next_end(self._text, stop)
        ]
