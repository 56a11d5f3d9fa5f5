"""Novu: workflows and subscribers, as JSON of its API.

    workflows.json      GET /v1/workflows, or a file for each GET /v2/workflows/{workflowId}
    subscribers.json    GET /v1/subscribers or /v2/subscribers; each object with the key
                        `preferences` has the answer of GET .../subscribers/{id}/preferences

Version 1 writes texts in Handlebars, version 2 in Liquid. The schemas are those of
https://docs.novu.co/api-reference, and of libs/shared/src/dto in the repository novuhq/novu.
"""

from __future__ import annotations

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
)
from notifications.features.moving.languages import handlebars, liquid
from notifications.features.moving.people import ExportedPerson
from notifications.features.moving.texts import Source, Texts
from notifications.features.moving.vendors import steps
from providers.contract import Channel

_TOKENS: Final = {"fcm": "fcm_token", "apns": "apns_token", "expo": "expo_token"}
"""Provider of Novu -> kind of the address."""
_NAMES: Final = ("firstName", "lastName", "avatar")
_ROOTS: Final = {"payload": "", "steps": None}
_HANDLEBARS: Final = partial(handlebars.convert, refused=frozenset({"step"}))
_LIQUID: Final = partial(liquid.convert, roots=_ROOTS)
_NO_TEXT: Final = "has no text: list the workflow by GET /v2/workflows/{workflowId}"
_BLOCKS: Final = "blocks of the editor have no HTML in the export; write the HTML of the mail"


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the templates of workflows, and the subscribers."""
    for file in given:
        wanted = "steps" if "workflow" in file.name.rpartition("/")[2].lower() else "subscriberId"
        for each in files.read_entries(file, "data", wanted=wanted):
            if isinstance(each, NotUnderstood):
                yield each
            elif wanted == "steps":
                yield from files.in_form(each[0], _workflow(*each))
            else:
                yield from files.in_form(each[0], _subscriber(*each))


def _workflow(place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    triggers = entry.get("triggers")
    is_first = isinstance(triggers, list) and bool(triggers) and isinstance(triggers[0], dict)
    identified = triggers[0].get("identifier") if is_first and triggers else entry.get("workflowId")
    name = str(identified or "")
    texts = Texts(place, name, convert=_HANDLEBARS if is_first else _LIQUID)
    channels = []
    for number, step in enumerate(entry["steps"]):
        where = place.below("steps", number)
        if not isinstance(step, dict):
            texts.fault(where, "must be a JSON object")
            continue
        template = step.get("template") if is_first else step
        kind = str(template.get("type")) if isinstance(template, dict) else ""
        if kind not in steps.CHANNELS:
            texts.fault(where, steps.SERIES.format(kind=kind))
        elif step.get("active") is False:
            yield Remark(where, "the step is not active and was left out")
        else:
            channels.append(steps.CHANNELS[kind])
            add = _add_first if is_first else _add_second
            add(texts, where, steps.CHANNELS[kind], template or {})
    yield from texts.parts()
    if channels:
        yield steps.chain(place, name, channels)
    if entry.get("critical"):
        yield Remark(place, f"{name} is critical: give the notification type P0, or tick mandatory")


def _add_first(
    texts: Texts, place: ExportPlace, channel: Channel, template: Mapping[str, Any]
) -> None:
    """Add the text of a step of version 1."""
    content, title = template.get("content"), template.get("subject") or template.get("title") or ""
    if channel is Channel.EMAIL:
        html = content if isinstance(content, str) else _html(content)
        if html is None:
            texts.fault(place.below("template", "content"), _BLOCKS)
        else:
            texts.add(channel, place, Source(title=str(title), html=html))
    elif isinstance(content, str):
        part = _first_part(template.get("cta")) if channel is Channel.IN_APP else {}
        texts.add(channel, place, Source(title=str(title), body=content, part=part))
    else:
        texts.fault(place.below("template", "content"), "must be a text")


def _html(blocks: object) -> str | None:
    """Return the HTML of the editor's blocks of version 1; None for another block."""
    lines = []
    for block in blocks if isinstance(blocks, list) else [None]:
        if not isinstance(block, dict) or block.get("type") not in {"text", "button"}:
            return None
        align = str((block.get("styles") or {}).get("textAlign", ""))
        style = f' style="text-align:{align}"' if align in {"left", "center", "right"} else ""
        text = str(block.get("content", ""))
        if block["type"] == "button":
            text = f'<a href="{block.get("url", "")}">{text}</a>'
        lines.append(f"<p{style}>{text}</p>")
    return "\n".join(lines)


def _first_part(cta: object) -> dict[str, Any]:
    """Return link and buttons of an in-app text; a button of version 1 is a callback."""
    if not isinstance(cta, dict):
        return {}
    data, action = cta.get("data") or {}, cta.get("action") or {}
    actions = [
        {"id": str(each.get("type")), "label": str(each.get("content"))}
        for each in action.get("buttons") or ()
        if isinstance(each, dict)
    ]
    return {name: each for name, each in (("url", data.get("url")), ("actions", actions)) if each}


def _add_second(
    texts: Texts, place: ExportPlace, channel: Channel, step: Mapping[str, Any]
) -> None:
    """Add the text of a step of version 2."""
    controls = step.get("controls")
    values = controls.get("values") if isinstance(controls, dict) else step.get("controlValues")
    if not isinstance(values, dict) or not isinstance(values.get("body"), str):
        texts.fault(place, _NO_TEXT)
        return
    where = place.below("controls", "values", "body")
    body, title = values["body"], str(values.get("subject") or "")
    if values.get("skip"):
        texts.fault(place.below("controls", "values", "skip"), "a condition has no counterpart")
    if channel is not Channel.EMAIL:
        part = _second_part(values) if channel is Channel.IN_APP else {}
        texts.add(channel, where, Source(title=title, body=body, part=part))
    elif body.lstrip().startswith("{") and '"type"' in body:
        texts.fault(where, _BLOCKS)
    else:
        texts.add(channel, where, Source(title=title, html=body))


def _second_part(values: Mapping[str, Any]) -> dict[str, Any]:
    actions = []
    for name in ("primaryAction", "secondaryAction"):
        action = values.get(name)
        if isinstance(action, dict) and action.get("label"):
            url = (action.get("redirect") or {}).get("url") or ""
            actions.append({"id": name, "label": str(action["label"]), "url": str(url)})
    url = (values.get("redirect") or {}).get("url")
    return {name: each for name, each in (("url", url), ("actions", actions)) if each}


def _subscriber(place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    person = ExportedPerson(place, str(entry["subscriberId"]))
    person.add(Channel.EMAIL, entry.get("email"), "email")
    person.add(Channel.SMS, entry.get("phone"), "phone")
    person.set("locale", entry.get("locale"), "locale")
    person.set("timezone", entry.get("timezone"), "timezone")
    person.leave_out(*(name for name in _NAMES if entry.get(name)))
    if isinstance(entry.get("data"), dict):
        person.set_attributes(entry["data"], "data")
    for number, each in enumerate(entry.get("channels") or ()):
        _add_tokens(person, each, number)
    is_whole_off = _add_preferences(person, entry.get("preferences"))
    yield from person.parts()
    if is_whole_off:
        yield Remark(place, steps.CHANNEL_OFF)


def _add_tokens(person: ExportedPerson, channel: object, number: int) -> None:
    credentials = channel.get("credentials") if isinstance(channel, dict) else None
    if not isinstance(channel, dict) or not isinstance(credentials, dict):
        person.fault("must be an object with credentials", "channels", number)
        return
    tokens = credentials.get("deviceTokens") or []
    kind = _TOKENS.get(str(channel.get("providerId")))
    if kind is None and (tokens or credentials.get("webhookUrl")):
        said = f"addresses of the provider {str(channel.get('providerId'))[:40]!r} do not work here"
        person.fault(said, "channels", number)
        return
    for place, token in enumerate(tokens):
        where = ("channels", number, "credentials", "deviceTokens", place)
        person.add(Channel.PUSH, token, *where, kind=kind or "")


def _add_preferences(person: ExportedPerson, given: object) -> bool:
    """Apply the switched-off preferences of the subscriber; True if a whole channel is off."""
    if given is None:
        return False
    if isinstance(given, list):  # version 1
        for number, each in enumerate(given):
            template = each.get("template") if isinstance(each, dict) else None
            triggers = (template or {}).get("triggers") or [{}]
            identifier = triggers[0].get("identifier") if isinstance(triggers[0], dict) else None
            preference = each.get("preference") if isinstance(each, dict) else None
            _switch_off(person, identifier, preference, "preferences", number)
        return False
    if not isinstance(given, dict):
        person.fault("must be the answer of GET preferences", "preferences")
        return False
    if isinstance(given.get("data"), dict | list):
        return _add_preferences(person, given["data"])
    for number, each in enumerate(given.get("workflows") or ()):
        workflow = each.get("workflow") if isinstance(each, dict) else None
        identifier = (workflow or {}).get("identifier")
        _switch_off(person, identifier, each, "preferences", "workflows", number)
    whole = given.get("global") or {}
    channels = whole.get("channels") or {}
    if whole.get("enabled") is False:
        channels = dict.fromkeys(channels or ("email", "sms", "push", "in_app", "chat"), False)
    steps.switch_off(person, None, channels, "preferences", "global", "channels")
    return False in channels.values()


def _switch_off(
    person: ExportedPerson, identifier: object, given: object, *names: str | int
) -> None:
    if not isinstance(identifier, str) or not isinstance(given, dict):
        person.fault("has no identifier of a workflow, or no channels", *names)
    elif given.get("enabled") is False:
        person.switch_off(identifier, None, *names)
    else:
        steps.switch_off(person, identifier, given.get("channels") or {}, *names, "channels")
