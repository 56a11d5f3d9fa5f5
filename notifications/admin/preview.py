"""How a template will look: rendered as the phone or mailbox would show it, with its sizes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from notifications.admin import reading
from notifications.models import Template, TemplateText
from notifications.rules import sms_segments, templating, variables, wording
from notifications.rules.sms_segments import SmsSize
from notifications.rules.templating import BrokenTemplate, Reader, Rendered, RenderError
from notifications.rules.wording import Source
from notifications.store import texts as stored
from providers.contract import Channel

CLIPPED_HTML_BYTES: Final = 102_400
"""Gmail cuts a message off above this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One text, rendered or not."""

    text: TemplateText
    frame: str
    """Which picture it is drawn in: phone, bubble, mail or plain."""
    rendered: Rendered | None
    sizes: tuple[tuple[str, int], ...]
    """Part and its bytes of UTF-8."""
    sms: SmsSize | None
    """What it takes as an SMS."""
    problems: tuple[str, ...]


def show(model_admin: admin.ModelAdmin[Any], request: HttpRequest, pk: int) -> HttpResponse:
    """The preview page of one version: `?text=` chooses channel and locale, `?variables=` is JSON.

    Whether the operator may view templates is the caller's to ask.

    Raises:
        Http404: there is no such version.
    """
    template = get_object_or_404(Template, pk=pk)
    texts = list(template.texts.all())
    wanted = request.GET.get("text", "")
    text = next((text for text in texts if str(text.pk) == wanted), texts[0] if texts else None)
    names = _declared(texts)
    samples = _samples(names) | _examples(template)
    typed = request.GET.get("variables") or json.dumps(samples, indent=2, ensure_ascii=False)
    given, fault = _read(typed)
    return reading.page(
        model_admin,
        request,
        "admin/template_preview.html",
        title=f"{template} preview",
        context={
            "template": template,
            "texts": texts,
            "preview": preview(text, given) if text else None,
            "typed": typed,
            "fault": fault,
            "missing": sorted(names - given.keys()),
        },
    )


def preview(text: TemplateText, given: dict[str, Any]) -> Preview:
    """Render one text with sample variables."""
    channel = Channel(text.channel)
    source = stored.source_of(text)
    try:
        words = wording.compiled(source)
        whole = words.text.render(given, Reader(text.locale))
        rendered = words.render(given, Reader(text.locale))
    except (BrokenTemplate, RenderError) as error:
        return Preview(
            text=text,
            frame=_FRAMES[channel],
            rendered=None,
            sizes=(),
            sms=None,
            problems=(str(error),),
        )
    parts = {"title": rendered.title, "body": rendered.body, "html": rendered.html}
    sizes = tuple((name, len(part.encode())) for name, part in parts.items() if part)
    return Preview(
        text=text,
        frame=_FRAMES[channel],
        rendered=rendered,
        sizes=sizes,
        sms=sms_segments.measured(rendered.body) if channel is Channel.SMS else None,
        problems=tuple(_warnings(source, whole, rendered, dict(sizes))),
    )


_FRAMES: Final = {
    Channel.PUSH: "phone",
    Channel.SMS: "bubble",
    Channel.EMAIL: "mail",
    Channel.IN_APP: "phone",
    Channel.WEBHOOK: "plain",
    Channel.CHAT: "bubble",
}


def _warnings(
    source: Source, whole: Rendered, rendered: Rendered, sizes: dict[str, int]
) -> list[str]:
    found = []
    if source.channel is Channel.PUSH and whole.body != rendered.body:
        found.append("The body is cut off at the end: a push holds no more.")
    if source.channel is Channel.SMS and source.max_segments is not None:
        size = sms_segments.measured(rendered.body)
        if size.segments > source.max_segments:
            found.append(f"{size.segments} segments; its limit is {source.max_segments}.")
    if source.channel is Channel.EMAIL and sizes.get("html", 0) > CLIPPED_HTML_BYTES:
        found.append(f"Gmail clips a message above {CLIPPED_HTML_BYTES} bytes.")
    if source.channel is Channel.EMAIL and "title" not in sizes:
        found.append("A mail without a subject looks like spam.")
    return found


def _examples(template: Template) -> dict[str, Any]:
    try:
        return variables.examples(variables.read(template.variables))
    except variables.MalformedDeclaration:
        return {}


def _declared(texts: list[TemplateText]) -> set[str]:
    """Every variable that any text of the version mentions."""
    names: set[str] = set()
    for text in texts:
        for source in (text.title, text.body, text.html):
            if not templating.check(source):
                names |= templating.declared(source)
    return names


def _samples(names: set[str]) -> dict[str, str]:
    return {name: name.replace("_", " ").title() for name in sorted(names)}


def _read(typed: str) -> tuple[dict[str, Any], str]:
    try:
        variables = json.loads(typed)
    except (ValueError, RecursionError) as error:
        return {}, f"The variables are not JSON: {error}"
    if not isinstance(variables, dict):
        return {}, 'The variables are a JSON object: {"name": "value"}'
    return variables, ""
