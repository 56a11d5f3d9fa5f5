"""Knock: folders of `knock workflow pull --all`, and users as JSON of its API.

    workflows/new-comment/workflow.json          steps, with `text_body@`: a file beside it
    workflows/new-comment/sms_1/text_body.txt
    users.json    GET /v1/users; each object with the key `preferences` has the answer of
                  GET /v1/users/{id}/preferences

Texts are in Liquid. A step has no type of its channel, so the type is that of `channel_type`, or of
the name that Knock gives to a step (`email_1`): https://docs.knock.app/cli/workflow
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from notifications.features.moving import files
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    NotUnderstood,
    Remark,
    WrongExport,
)
from notifications.features.moving.languages import liquid
from notifications.features.moving.people import ExportedPerson
from notifications.features.moving.texts import Source, Texts
from notifications.features.moving.vendors import steps
from providers.contract import Channel

_WORKFLOW: Final = "workflow.json"
_STEP: Final = re.compile(r"(email|sms|push|in_app_feed|chat)_\w+")
_ROOTS: Final = {
    "data": "",
    **dict.fromkeys(("vars", "activities", "total_activities", "actors", "total_actors"), None),
}
_LIQUID: Final = partial(liquid.convert, roots=_ROOTS)
_MARKDOWN: Final = re.compile(r"[*_`#>\[]")
_NO_TEXT: Final = "has neither html_body nor text_body; visual blocks have no HTML in the export"
_USER_FIELDS: Final = frozenset({
    *("__typename", "id", "email", "phone_number", "timezone", "locale", "created_at"),
    *("updated_at", "preferences", "name", "avatar"),
})
_NAMES: Final = ("name", "avatar")


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the templates of workflows, and the users."""
    by_name = {file.name: file for file in given}
    for file in given:
        folder, slash, name = file.name.rpartition("/")
        if name == _WORKFLOW:
            parts = _workflow(file, f"{folder}{slash}", by_name)
            yield from files.in_form(file.place, parts)
        elif _is_part(folder, by_name):
            continue
        elif name.endswith(".json"):
            for each in files.read_entries(file, "entries", wanted="id"):
                if isinstance(each, NotUnderstood):
                    yield each
                else:
                    yield from files.in_form(each[0], _user(*each))
        else:
            yield NotUnderstood(file.place, f"no {_WORKFLOW} is above the file")


def _is_part(folder: str, by_name: Mapping[str, ExportFile]) -> bool:
    """Return True for a file below the folder of a workflow."""
    while folder:
        if f"{folder}/{_WORKFLOW}" in by_name:
            return True
        folder = folder.rpartition("/")[0]
    return False


def _workflow(file: ExportFile, folder: str, by_name: Mapping[str, ExportFile]) -> Iterator[Found]:
    document = files.read_json(file)
    if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
        raise WrongExport(f"{file.name}: a workflow is an object with steps")
    key = (document.get("$readonly") or document.get("__readonly") or {}).get("key")
    name = str(key or folder.rstrip("/").rpartition("/")[2] or document.get("key") or "")
    texts = Texts(file.place, name, convert=_LIQUID)
    channels = []
    for number, step in enumerate(document["steps"]):
        place = file.place.below("steps", number)
        channel = _channel_of(step)
        if channel is None:
            kind = step.get("type") if isinstance(step, dict) else None
            said = "has no channel_type, and its ref names none"
            texts.fault(place, said if kind == "channel" else steps.SERIES.format(kind=kind))
            continue
        channels.append(channel)
        if step.get("conditions"):
            texts.fault(place.below("conditions"), "a condition has no counterpart")
        template = step.get("template")
        if isinstance(template, dict):
            _add(texts, place.below("template"), channel, _whole(template, folder, by_name))
        else:
            texts.fault(place, "has no template")
    yield from texts.parts()
    if channels:
        yield steps.chain(file.place, name, channels)


def _channel_of(step: object) -> Channel | None:
    if not isinstance(step, dict) or step.get("type") != "channel":
        return None
    named = _STEP.fullmatch(str(step.get("ref", "")))
    return steps.CHANNELS.get(str(step.get("channel_type") or (named[1] if named else "")))


def _whole(
    template: Mapping[str, Any], folder: str, by_name: Mapping[str, ExportFile]
) -> dict[str, Any]:
    """Return the fields of a template; `text_body@` becomes `text_body` with the text of the file.

    Raises:
        WrongExport: a file is missing, or is not UTF-8.
    """
    whole = {}
    for name, value in template.items():
        if not name.endswith("@") or name.startswith("visual_blocks"):
            whole[name] = value
            continue
        path = f"{folder}{value}"
        if path not in by_name:
            raise WrongExport(f"{folder}{_WORKFLOW} names {value}, and {path} is missing")
        whole[name.removesuffix("@")] = files.read_text(by_name[path])
    return whole


def _add(texts: Texts, place: ExportPlace, channel: Channel, template: Mapping[str, Any]) -> None:
    title = str(template.get("subject") or template.get("title") or "")
    html = str(template.get("html_body") or template.get("html_content") or "")
    body = str(template.get("text_body") or "")
    if channel is Channel.EMAIL:
        if html or body:
            texts.add(channel, place, Source(title=title, html=html, body=body))
        else:
            texts.fault(place, _NO_TEXT)
        return
    marked = str(template.get("markdown_body") or "")
    if not body and _MARKDOWN.search(re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", marked)):
        texts.fault(place.below("markdown_body"), "Markdown; texts of this channel are plain")
        return
    part = {"url": template["action_url"]} if template.get("action_url") else {}
    texts.add(channel, place, Source(title=title, body=body or marked, part=part))


def _user(place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    person = ExportedPerson(place, str(entry["id"]))
    person.add(Channel.EMAIL, entry.get("email"), "email")
    person.add(Channel.SMS, entry.get("phone_number"), "phone_number")
    person.set("locale", entry.get("locale"), "locale")
    person.set("timezone", entry.get("timezone"), "timezone")
    person.leave_out(*(name for name in _NAMES if entry.get(name)))
    person.set_attributes({name: v for name, v in entry.items() if name not in _USER_FIELDS})
    is_whole_off = _add_preferences(person, entry.get("preferences"))
    yield from person.parts()
    if is_whole_off:
        yield Remark(place, steps.CHANNEL_OFF)


def _add_preferences(person: ExportedPerson, given: object) -> bool:
    """Apply the switched-off preferences of the user; True if a whole channel is off."""
    sets = given if isinstance(given, list) else [given] if isinstance(given, dict) else []
    is_whole_off = False
    for number, each in enumerate(sets):
        if not isinstance(each, dict) or each.get("id", "default") != "default":
            said = "a preference set of a tenant has no counterpart"
            person.fault(said, "preferences", number)
            continue
        whole = each.get("channel_types") or {}
        steps.switch_off(person, None, whole, "preferences", "channel_types")
        is_whole_off |= isinstance(whole, dict) and False in whole.values()
        for kind in ("categories", "workflows"):
            for topic, choice in (each.get(kind) or {}).items():
                _choose(person, topic, choice, "preferences", kind, topic)
    return is_whole_off


def _choose(person: ExportedPerson, topic: str, choice: object, *names: str | int) -> None:
    if choice is False:
        person.switch_off(topic, None, *names)
    elif isinstance(choice, dict) and "conditions" not in choice:
        steps.switch_off(person, topic, choice.get("channel_types") or {}, *names)
    elif choice is not True:
        person.fault("must be true, false or channel_types; conditions have no counterpart", *names)
