"""The form of the preference page: values for display, and the changes of a posted form.

    drawn   each cell that can be changed, with the state at the time of drawing
    on      the cells that are ticked in the posted form
    digest  the chosen option of each topic; `drawn_digests` has the options as drawn

Only a cell or digest with a posted state that differs from the drawn state is changed. So an old
page in another tab undoes nothing, and a topic that is added in between stays as it is. Topics that
no type has are left out, so a forged form stores no texts.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

from babel.dates import get_day_names
from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop

from notifications.core.feedback import preference_matrix
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.feedback.preference_matrix import Lock, Matrix, TopicState, digest_topics
from notifications.core.models import Preference, Recipient
from notifications.core.rules.language import locales
from notifications.core.rules.language.page_languages import PAGE_LANGUAGES
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell, CellChange
from notifications.core.rules.times import local_time, quiet_hours
from notifications.core.rules.times.digest_times import DigestChoice
from notifications.core.rules.times.quiet_hours import WEEKDAYS, Window, Windows
from providers.contract import Channel

_DIGESTS: Final[Mapping[DigestChoice, str]] = {
    DigestChoice.AT_ONCE: gettext_noop("At once"),
    DigestChoice.DAILY: gettext_noop("Once a day, at 9:00"),
    DigestChoice.WEEKLY: gettext_noop("Once a week, on Monday at 9:00"),
}


class BadForm(Exception):
    """A value of the form is invalid; the text is for the recipient."""


def context(recipient: Recipient, preference: Preference, matrix: Matrix) -> dict[str, Any]:
    """Return the template context of the form."""
    names = {each.channel: each.name for each in matrix.channels}
    channels = [
        {"value": _value("", each.channel), "name": each.name, "on": each.on}
        for each in matrix.channels
    ]
    windows = _windows_of(preference)
    simple = _simple(windows)
    return {
        "channels": channels,
        "topics": [_topic(each, names) for each in matrix.topics],
        "drawn": " ".join(_drawn(matrix)),
        "drawn_digests": " ".join(
            f"{quote(each.topic, safe='')}/{each.digest}" for each in matrix.topics if each.digest
        ),
        "digest_choices": [(each.value, gettext(_DIGESTS[each])) for each in DigestChoice],
        "windows": [] if simple or not windows else [_text(w, names, matrix) for w in windows],
        "quiet_start": f"{simple.start:%H:%M}" if simple else "",
        "quiet_end": f"{simple.end:%H:%M}" if simple else "",
        "locale": recipient.locale,
        "message_languages": _message_languages(recipient.locale),
        "timezone": recipient.timezone,
        "timezones": _timezones(recipient.timezone),
    }


def change_of(form: QueryDict, recipient: Recipient, preference: Preference) -> PreferenceChange:
    """Return the changes of a posted form.

    Raises:
        BadForm: a value is invalid.
    """
    return PreferenceChange(
        columns=_quiet_hours(form, _windows_of(preference)),
        choices=list(_choices(form)),
        digests=dict(_digests(form)),
        profile=_profile(form, recipient),
    )


def _value(topic: str, channel: Channel) -> str:
    return f"{quote(topic, safe='')}/{channel.label}"


def _drawn(matrix: Matrix) -> Iterator[str]:
    for channel in matrix.channels:
        yield f"{_value(WHOLE_CHANNEL, channel.channel)}/{int(channel.on)}"
    for topic in (each for top in matrix.topics for each in (top, *_shown_types(top))):
        for cell in topic.cells:
            if not cell.locked:
                yield f"{_value(topic.topic, cell.channel)}/{int(cell.on)}"


def _shown_types(topic: TopicState) -> Sequence[TopicState]:
    """Return the types of a category; none for a single type, which the category stands for."""
    return topic.types if len(topic.types) > 1 else ()


def _choices(form: QueryDict) -> Iterator[CellChange]:
    on, known = set(form.getlist("on")), preference_matrix.known_topics() | {WHOLE_CHANNEL}
    for drawn in form.get("drawn", "").split():
        value, _, state = drawn.rpartition("/")
        topic, _, label = value.partition("/")
        is_on = value in on
        is_known = unquote(topic) in known and label.upper() in Channel.__members__
        if is_known and is_on is not (state == "1"):
            yield CellChange(Cell(unquote(topic), Channel.from_label(label)), on=is_on)


def _digests(form: QueryDict) -> Iterator[tuple[str, DigestChoice]]:
    drawn = set(form.get("drawn_digests", "").split())
    for value in form.getlist("digest"):
        topic, _, chosen = value.rpartition("/")
        if value not in drawn and unquote(topic) in digest_topics() and chosen in set(DigestChoice):
            yield unquote(topic), DigestChoice(chosen)


def _topic(topic: TopicState, names: Mapping[Channel, str]) -> dict[str, Any]:
    locks = {cell.locked for cell in topic.cells}
    note = topic.mandatory_reason
    if not note and Lock.CATEGORY_OFF in locks:
        note = gettext("Where the topic above is off, this type is off too.")
    return {
        "name": topic.name,
        "description": topic.description,
        "note": note,
        "cells": [
            {
                "value": _value(topic.topic, cell.channel),
                "name": names[cell.channel],
                "on": cell.on,
                "locked": bool(cell.locked),
            }
            for cell in topic.cells
        ],
        "topic": quote(topic.topic, safe=""),
        "digest": topic.digest,
        "types": [{**_topic(each, names), "digest": None} for each in _shown_types(topic)],
    }


def _windows_of(preference: Preference) -> Windows:
    return quiet_hours.parse_stored(json.dumps(preference.quiet_hours))


def _simple(windows: Windows) -> Window | None:
    """Return the window that the two time fields can show; None for any other quiet hours."""
    if len(windows) == 1 and not windows[0].days and not windows[0].channels:
        return windows[0]
    return None


def _text(window: Window, names: Mapping[Channel, str], matrix: Matrix) -> str:
    days = get_day_names("abbreviated", locale=locales.cldr(matrix.language))
    parts = [f"{window.start:%H:%M} - {window.end:%H:%M}"]
    parts += [", ".join(days[WEEKDAYS.index(day)] for day in window.days)] if window.days else []
    parts += [", ".join(names.get(each, each.label) for each in window.channels)]
    return " · ".join(filter(None, parts))


def _quiet_hours(form: QueryDict, windows: Windows) -> dict[str, object]:
    start, end = form.get("quiet_start", "").strip(), form.get("quiet_end", "").strip()
    simple = _simple(windows)
    if form.get("quiet_clear") or (simple and not (start or end)):
        return {"quiet_hours": []}
    if not (start or end):
        return {}
    try:
        # A browser may add seconds.
        wanted = (Window(start=_minute(start), end=_minute(end)),)
        quiet_hours.check(wanted)
    except ValueError as error:
        raise BadForm(gettext("Give two different times for the quiet hours.")) from error
    return {} if wanted == tuple(windows) else {"quiet_hours": quiet_hours.to_json(wanted)}


def _minute(written: str) -> dt.time:
    value = dt.time.fromisoformat(written)
    if value.tzinfo is not None:
        raise ValueError("a time of day has no offset")
    return value.replace(second=0, microsecond=0)


def _profile(form: QueryDict, recipient: Recipient) -> dict[str, str]:
    wanted: dict[str, str] = {}
    locale = form.get("locale", recipient.locale)
    if locale != recipient.locale and locale in PAGE_LANGUAGES:
        wanted["locale"] = locale
    timezone = form.get("timezone", recipient.timezone)
    if timezone != recipient.timezone and (not timezone or local_time.is_zone(timezone)):
        wanted["timezone"] = timezone
    return wanted


def _message_languages(locale: str) -> list[tuple[str, str]]:
    """Return the page languages, and the recipient's own locale if it is another one."""
    found = dict(PAGE_LANGUAGES)
    if locale not in found:
        return [(locale, locales.cldr(locale).get_display_name() or locale), *found.items()]
    return list(found.items())


_NO_PLACES: Final = ("Etc/", "SystemV/", "posix", "right", "Factory")


@functools.cache
def _all_timezones() -> tuple[str, ...]:
    names = local_time.names()
    return ("UTC", *sorted(n for n in names if "/" in n and not n.startswith(_NO_PLACES)))


def _timezones(current: str) -> Sequence[str]:
    names = _all_timezones()
    return names if not current or current in names else (current, *names)
