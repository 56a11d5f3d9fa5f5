"""A template's content as files, for git.

    <template_id>/template.json          settings: {"sensitive_variables": ["code"], ...}
                                             (see `language.variables` and `sms_policy`), and the
                                             attachments without their contents
    <template_id>/<channel>.<locale>.txt     title, an empty line, body; an SMS is its body alone
    <template_id>/<channel>.<locale>.html    the HTML part of that text
    <template_id>/email.<locale>.md          the blocks of that text, which then has no body and no
                                             HTML of its own
    <template_id>/in_app.<locale>.json       its link, image and actions: {"url": "/orders/7",
                                             "image_url": ..., "actions": [{"id", "label", "url"}]}
    <template_id>/push.<locale>.json         its link and image: {"url": ..., "image_url": ...}
    <template_id>/chat.<locale>.json         its approved template at vendors (`vendor_template`)
    <template_id>/<channel>.<locale>@<variant>.txt   what a variant replaces, and so on: each file
                                             may be missing, and so may title or body

`parse(write(content))` has the sources of `content`, and equal contents produce equal files, so an
export followed by an import changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from notifications.core.rules import in_app
from notifications.core.rules.in_app import InAppPart
from notifications.core.rules.language import locales, templating
from notifications.core.rules.templates import contents, sms_policy
from notifications.core.rules.templates.contents import (
    LINKED,
    UNTITLED,
    TemplateContent,
    has_several_lines,
)
from notifications.core.rules.texts import mail_blocks, variants, vendor_template
from notifications.core.rules.texts.vendor_template import VendorTemplate
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

SETTINGS_FILE: Final = "template.json"
_TEXT_FILE: Final = re.compile(
    r"([a-z_]+)\.([A-Za-z0-9_\-]{1,35})(?:@([^.@/]{1,64}))?\.(txt|html|json|md)"
)


class BrokenFiles(Exception):
    """The content of a file does not match the file name. Nothing was imported."""


def write(content: TemplateContent) -> dict[str, str]:
    """Return file name -> text with a newline at the end."""
    told = {**content.settings, **sms_policy.written(content.texts)}
    if not told.get("attachments"):
        told.pop("attachments", None)
    settings = orjson.dumps(dict(sorted(told.items())), option=orjson.OPT_INDENT_2)
    files = {SETTINGS_FILE: f"{settings.decode()}\n"}
    for text in content.texts:
        name = _name(text.channel, text.locale, text.variant)
        body = "" if text.blocks else text.body  # compiled from the blocks
        titled = body if text.channel in UNTITLED else f"{text.title}\n\n{body}"
        if text.title or body or not text.variant:
            files[f"{name}.txt"] = f"{titled}\n"
        if text.blocks:
            files[f"{name}.md"] = f"{text.blocks}\n"
        elif text.html:
            files[f"{name}.html"] = f"{text.html}\n"
        if part := in_app.written(text.in_app) or vendor_template.written(text.vendor_template):
            written = orjson.dumps(part, option=orjson.OPT_INDENT_2).decode()
            files[f"{name}.json"] = f"{written}\n"
    return files


def parse(files: Mapping[str, str]) -> TemplateContent:
    """Return the content of files (name -> text).

    Raises:
        BrokenFiles: a name or a text makes no sense, or a source could not be rendered safely.
    """
    rest = dict(files)
    settings = _settings(rest.pop(SETTINGS_FILE, "{}"))
    found: dict[_Place, dict[str, str]] = {}
    names: dict[tuple[_Place, str], str] = {}
    for name, text in sorted(rest.items()):
        place, kind = meaning = _meaning(name)
        if (other := names.setdefault(meaning, name)) != name:
            raise BrokenFiles(f"{other} and {name}: two files of one locale; keep one")
        found.setdefault(place, {})[kind] = text
    if len(found) > contents.MAX_TEXTS:
        raise BrokenFiles(
            f"*: {len(found)} texts; a version has at most {contents.MAX_TEXTS}, one for each"
            " channel, locale and variant"
        )
    texts = [_text(place, parts) for place, parts in found.items()]
    for position, fault in variants.faults(texts):
        raise BrokenFiles(f"{_name(*[*found][position])}: {fault}")
    try:
        texts = sms_policy.apply(texts, settings)
    except sms_policy.MalformedPolicy as error:
        raise BrokenFiles(f"{SETTINGS_FILE}: {error}") from error
    others = settings.keys() - {sms_policy.ALL, sms_policy.EACH}
    return contents.content(texts, {name: settings[name] for name in others})


class _Place(NamedTuple):
    """The text of a file."""

    channel: Channel
    locale: str
    variant: str


def _name(channel: Channel, locale: str, variant: str) -> str:
    """Return the name of a text's files, without the kind."""
    return f"{channel.label}.{locale}" + (f"@{variant}" if variant else "")


def _meaning(name: str) -> tuple[_Place, str]:
    """Parse channel, locale, variant and kind from a file name.

    Raises:
        BrokenFiles: the name has another form.
    """
    matched = _TEXT_FILE.fullmatch(name)
    channel = next((each for each in Channel if matched and each.label == matched[1]), None)
    if matched is None or channel is None:
        raise BrokenFiles(
            f"{name}: a text is called <channel>.<locale>.txt, like push.pt-BR.txt, and a variant"
            " like push.pt-BR@b.txt"
        )
    if not locales.is_known(matched[2]):
        raise BrokenFiles(f"{name}: unknown locale; use a CLDR locale such as pt-BR")
    return _Place(channel, locales.normalize(matched[2]), matched[3] or ""), matched[4]


def _text(place: _Place, parts: Mapping[str, str]) -> TextSource:
    channel, name = place.channel, _name(*place)
    title, body = _title_and_body(place, parts)
    for source, kind in ((title, "txt"), (body, "txt"), (parts.get("html", ""), "html")):
        for fault in templating.check(source):
            raise BrokenFiles(f"{name}.{kind}: line {fault.line}: {fault.detail}")
    part, template = in_app.EMPTY, vendor_template.EMPTY
    if channel is Channel.CHAT:
        template = _vendor_template(f"{name}.json", parts.get("json", ""))
    else:
        part = _in_app_part(channel, f"{name}.json", parts.get("json", ""))
    html, blocks = parts.get("html", ""), parts.get("md", "")
    if blocks:
        _check_blocks(channel, name, blocks, others=body.strip() + html)
        return contents.normalize(TextSource(**place._asdict(), title=title, blocks=blocks))
    return contents.normalize(
        TextSource(
            **place._asdict(),
            title=title,
            body=body,
            html=html,
            in_app=part,
            vendor_template=template,
        )
    )


def _title_and_body(place: _Place, parts: Mapping[str, str]) -> tuple[str, str]:
    """Read the text file, which a variant may lack.

    Raises:
        BrokenFiles: the file is missing, has a title of several lines, or none of its own line.
    """
    name = _name(*place)
    if "txt" not in parts and not place.variant:
        raise BrokenFiles(f"{name}.{next(iter(parts))}: the file {name}.txt is missing")
    text = parts.get("txt", "").replace("\r\n", "\n")
    if place.channel in UNTITLED:
        return "", text
    title, gap, body = text.partition("\n\n")
    is_title_alone = not gap and not place.variant
    if is_title_alone or has_several_lines(title):
        raise BrokenFiles(
            f"{name}.txt: line 2: the first line is the title, which may be empty; then come an"
            " empty line and the body"
        )
    return title, body


def _check_blocks(channel: Channel, name: str, blocks: str, *, others: str) -> None:
    """Check the blocks of a mail.

    Raises:
        BrokenFiles: with the line.
    """
    if channel is not Channel.EMAIL:
        raise BrokenFiles(f"{name}.md: only an email text has blocks")
    if others:
        raise BrokenFiles(
            f"{name}.md: the blocks make the body and the HTML; leave {name}.txt with the subject"
            f" alone, and remove {name}.html"
        )
    for fault in mail_blocks.faults(blocks):
        raise BrokenFiles(f"{name}.md: line {fault.line}: {fault.detail}")


def _in_app_part(channel: Channel, name: str, text: str) -> InAppPart:
    """Read link, image and actions.

    Raises:
        BrokenFiles: with the place.
    """
    if not text:
        return in_app.EMPTY
    if channel not in LINKED:
        raise BrokenFiles(f"{name}: only in_app and push texts have a link and an image")
    stored = _json(name, text)
    part = in_app.read(stored)
    if in_app.written(part) != stored:
        raise BrokenFiles(
            f"{name}: it holds url, image_url and actions, a list of id, label and url; all are"
            " texts, and empty ones are left out"
        )
    if part.actions and channel is not Channel.IN_APP:
        raise BrokenFiles(f"{name}: only in_app texts have actions")
    _check_part(name, part)
    return part


def _vendor_template(name: str, text: str) -> VendorTemplate:
    """Read the approved template of a chat text.

    Raises:
        BrokenFiles: with the place.
    """
    if not text:
        return vendor_template.EMPTY
    stored = _json(name, text)
    template = vendor_template.read(stored)
    if vendor_template.written(template) != stored:
        raise BrokenFiles(f"{name}: it holds ids, by provider, and parameters, a list; of texts")
    for place, detail in vendor_template.structure_faults(template):
        raise BrokenFiles(f"{name}: {'.'.join(map(str, place))} {detail}")
    for label, source in vendor_template.sources(template):
        for fault in templating.check(source):
            raise BrokenFiles(f"{name}: {label}: {fault.detail}")
    return template


def _json(name: str, text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BrokenFiles(f"{name}: {error}") from error


def _check_part(name: str, part: InAppPart) -> None:
    """Check the actions and the sources of a part.

    Raises:
        BrokenFiles: with the place.
    """
    for place, detail in in_app.structure_faults(part):
        raise BrokenFiles(f"{name}: {'.'.join(map(str, place))} {detail}")
    for label, source in in_app.sources(part):
        for fault in templating.check(source):
            raise BrokenFiles(f"{name}: {label}: {fault.detail}")


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BrokenFiles(f"{SETTINGS_FILE}: {error}") from error
    if not isinstance(settings, dict):
        raise BrokenFiles(f"{SETTINGS_FILE}: it holds one JSON object")
    return settings
