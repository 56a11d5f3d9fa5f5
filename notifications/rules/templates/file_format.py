"""A template's content as files, for git.

    <template_id>/template.json          settings: {"sensitive_variables": ["code"], ...}
                                             (see `language.variables` and `sms_policy`)
    <template_id>/<channel>.<locale>.txt     title, an empty line, body; an SMS is its body alone
    <template_id>/<channel>.<locale>.html    the HTML part of that text

`parse(write(content)) == content`, and equal contents produce equal files, so an export followed
by an import changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from notifications.rules.language import locales, templating
from notifications.rules.templates import contents, sms_policy
from notifications.rules.templates.contents import UNTITLED, TemplateContent
from notifications.rules.texts.wording import TextSource
from providers.contract import Channel

SETTINGS_FILE: Final = "template.json"
_TEXT_FILE: Final = re.compile(r"([a-z_]+)\.([A-Za-z0-9_\-]{1,35})\.(txt|html)")


class BrokenFiles(Exception):
    """The content of a file does not match the file name. Nothing was imported."""


def write(content: TemplateContent) -> dict[str, str]:
    """Return file name -> text; each text ends with a newline."""
    told = {**content.settings, **sms_policy.written(content.texts)}
    settings = orjson.dumps(dict(sorted(told.items())), option=orjson.OPT_INDENT_2)
    files = {SETTINGS_FILE: f"{settings.decode()}\n"}
    for text in content.texts:
        name = f"{text.channel.label}.{text.locale}"
        titled = text.body if text.channel in UNTITLED else f"{text.title}\n\n{text.body}"
        files[f"{name}.txt"] = f"{titled}\n"
        if text.html:
            files[f"{name}.html"] = f"{text.html}\n"
    return files


def parse(files: Mapping[str, str]) -> TemplateContent:
    """Return the content of files (name -> text).

    Raises:
        BrokenFiles: a name or a text makes no sense, or a source could not be rendered safely.
    """
    rest = dict(files)
    settings = _settings(rest.pop(SETTINGS_FILE, "{}"))
    found: dict[tuple[Channel, str], dict[str, str]] = {}
    names: dict[tuple[Channel, str, str], str] = {}
    for name, text in sorted(rest.items()):
        channel, locale, kind = meaning = _meaning(name)
        if (other := names.setdefault(meaning, name)) != name:
            raise BrokenFiles(f"{other} and {name}: two files of one locale; keep one")
        found.setdefault((channel, locale), {})[kind] = text
    texts = [_text(channel, locale, parts) for (channel, locale), parts in found.items()]
    try:
        texts = sms_policy.apply(texts, settings)
    except sms_policy.MalformedPolicy as error:
        raise BrokenFiles(f"{SETTINGS_FILE}: {error}") from error
    others = settings.keys() - {sms_policy.ALL, sms_policy.EACH}
    return contents.content(texts, {name: settings[name] for name in others})


def _meaning(name: str) -> tuple[Channel, str, str]:
    """Parse channel, locale and kind from a file name.

    Raises:
        BrokenFiles: the name has another form.
    """
    matched = _TEXT_FILE.fullmatch(name)
    channel = next((each for each in Channel if matched and each.label == matched[1]), None)
    if matched is None or channel is None:
        raise BrokenFiles(f"{name}: a text is called <channel>.<locale>.txt, like push.pt-BR.txt")
    if not locales.is_known(matched[2]):
        raise BrokenFiles(f"{name}: unknown locale; use a CLDR locale such as pt-BR")
    return channel, locales.normalize(matched[2]), matched[3]


def _text(channel: Channel, locale: str, parts: Mapping[str, str]) -> TextSource:
    name = f"{channel.label}.{locale}"
    if "txt" not in parts:
        raise BrokenFiles(f"{name}.html: the file {name}.txt is missing")
    text = parts["txt"].replace("\r\n", "\n")
    title, gap, body = ("", "", text) if channel in UNTITLED else text.partition("\n\n")
    if channel not in UNTITLED and not gap:
        raise BrokenFiles(f"{name}.txt: a title comes first, then an empty line, then the body")
    for source, kind in ((title, "txt"), (body, "txt"), (parts.get("html", ""), "html")):
        for fault in templating.check(source):
            raise BrokenFiles(f"{name}.{kind}: line {fault.line}: {fault.detail}")
    return contents.words(channel, locale, title=title, body=body, html=parts.get("html", ""))


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BrokenFiles(f"{SETTINGS_FILE}: {error}") from error
    if not isinstance(settings, dict):
        raise BrokenFiles(f"{SETTINGS_FILE}: it holds one JSON object")
    return settings
