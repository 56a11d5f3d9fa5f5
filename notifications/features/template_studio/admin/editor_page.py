"""The template editor: the texts of a version in a locale, with previews.

    show         the page
    answer       requests of the page's script
      render     previews while typing; stores nothing
      save       the texts of a locale, into a draft
      send       a text as typed, to the sandbox (`test_send`)
      send_me    a text as typed, to the operator (`test_send`)
      send_list  a text as typed, to each account of a list (`test_lists`)

Callers check the permissions. Scripts and styles are static files, and rendered text is escaped or
in a sandboxed frame, so the page works with a strict content security policy.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse

from notifications.core import conf
from notifications.core.admin import base
from notifications.core.admin.preview_panel import Panel
from notifications.core.delivery import routing
from notifications.core.models import Template
from notifications.core.operations.single_call import CannotSend
from notifications.core.rules import attachments
from notifications.core.rules.in_app import MAX_ACTIONS, Action, InAppPart
from notifications.core.rules.language import locales
from notifications.core.rules.problems import Problem
from notifications.core.rules.templates import contents, one_off, previews
from notifications.core.rules.templates.previews import Preview
from notifications.core.rules.texts import variants, wording
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.cached import brands
from notifications.core.store.postgres import audit
from notifications.core.store.templates import rows, versions
from notifications.features.template_studio import test_lists, test_send
from notifications.features.template_studio.admin import template_uses
from notifications.features.template_studio.admin.editor_panel import EditorPanel
from notifications.features.template_studio.test_send import MarkedText
from providers.contract import Channel


def show(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template
) -> HttpResponse:
    """Show the page; `?locale=` and `?variant=` choose the texts.

    `?channel=` adds a channel without a base text. `?copy=` fills the boxes of a locale without a
    text with the text that its readers get; of a variant, those of `?channel=`.
    """
    texts = versions.content_of(version).texts
    there = sorted({text.locale for text in texts}) or [locales.DEFAULT]
    locale = locales.normalize(request.GET.get("locale", "") or _first(there))
    variant = request.GET.get("variant", "").strip()[: variants.MAX_NAME]
    panels = list(_panels(request, version, texts, locale, variant))
    channels = {text.channel for text in texts} | {panel.words.channel for panel in panels}
    samples = previews.samples(texts, version.variables)
    is_draft = version.published_at is None
    return base.page(
        model_admin,
        request,
        "template_studio/editor.html",
        title=f"{version}: {locale}{f', variant {variant}' if variant else ''}",
        context={
            "template": version,
            "panels": panels,
            "locale": locale,
            "locales": sorted({*there, locale}),
            "variant": variant,
            "variants": sorted({*variants.names(texts), variant} - {""}),
            "others": [each.label for each in Channel if each not in channels],
            "variables": json.dumps(samples, indent=2, ensure_ascii=False),
            "objections": objections_of(version),
            "may_write": may_write(request),
            "test_lists": test_lists.sizes(),
            "may_publish": request.user.has_perm("notifications.publish_template"),
            "is_draft": is_draft,
            "is_one_off": one_off.is_one_off(version.template_id),
            "is_current": version == versions.current(version.template_id),
        },
    )


def answer(request: HttpRequest, version: Template) -> JsonResponse:
    """Answer a request of the page; `do` in the form names the action. Viewers may only render.

    Raises:
        PermissionDenied: the operator may not change templates.
        django.db.IntegrityError: another operator has just published the version.
    """
    typed = _parse_texts(request, version)
    variables, fault = _variables(request)
    asked = request.POST.get("do")
    if asked != "render" and not may_write(request):
        raise PermissionDenied
    match asked:
        case "save":
            with transaction.atomic():
                versions.lock(version.template_id)  # of two saves, each keeps the other's texts
                faults = _save(version, typed, by=request.user.get_username())
            shown = {"objections": objections_of(Template.objects.get(pk=version.pk))}
            return _json_response("\n".join(faults), "Saved.", shown=shown)
        case "send" | "send_me" | "send_list":
            label = request.POST.get("channel")
            words = next((each for each in typed if each.channel.label == label), None)
            if fault or words is None:
                return _json_response(fault, "")
            words = _as_sent(versions.content_of(version).texts, words)
            if asked == "send":
                return _send(words, variables)
            to = request.POST.get(f"{label}-test-list", "") if asked == "send_list" else None
            return _send_test(request, version, words, variables, to=to)
        case _:
            answer = {"frames": _frames(version, typed, variables), "fault": fault}
            return JsonResponse(answer | {"samples": previews.samples(typed, version.variables)})


def may_write(request: HttpRequest) -> bool:
    """Return True if the operator may change templates."""
    return bool(request.user.has_perm("notifications.change_template"))


def _frames(
    version: Template, typed: Sequence[TextSource], variables: Mapping[str, Any]
) -> dict[str, str]:
    """Return the preview of every channel for the typed texts: channel -> HTML."""
    texts = versions.content_of(version).texts
    frames: dict[str, str] = {}
    for words in typed:
        chosen = _as_sent(texts, words) if _says_something(words) else _instead(texts, words)
        panel = Panel(
            words=words,
            instead=_name_of_other(chosen, words),
            preview=_preview(chosen, variables, version) if chosen else None,
            files=attachments.of_template(version.attachments),
        )
        shown = render_to_string("admin/preview_frame.html", {"panel": panel})
        frames[words.channel.label] = shown
    return frames


def _save(version: Template, typed: Sequence[TextSource], *, by: str) -> list[str]:
    """Store the texts of a locale and variant; return the errors, in which case nothing is stored.

    A text with empty parts is removed. A text of a channel that the form does not show stays: it
    was added after the page was opened.
    """
    if version.published_at is not None:
        return ["This version is published. Make a new draft from it."]
    if not typed or not locales.is_known(typed[0].locale):
        return ["Unknown locale. Use a BCP 47 tag such as en, pt-BR or zh-Hant."]
    kept = [words for words in typed if _says_something(words)]
    faults = [fault for words in kept for fault in _faults(words)]
    if faults:
        return faults
    content = versions.content_of(version)
    place = typed[0].locale, typed[0].variant
    shown = {(words.channel, *place) for words in typed}
    others = (
        text for text in content.texts if (text.channel, text.locale, text.variant) not in shown
    )
    changed = contents.content([*others, *kept], content.settings)
    wrong = [
        f"{sentence}."
        for position, sentence in variants.faults(changed.texts)
        if changed.texts[position].locale == place[0]
    ]
    if wrong:
        return list(dict.fromkeys(wrong))
    if changed != content:
        with transaction.atomic():
            versions.edit(version, changed, by=by)
            after = {"locale": place[0]} | ({"variant": place[1]} if place[1] else {})
            audit.record(by, "edit_template", version, after=after)
    return []


def _send(words: TextSource, variables: Mapping[str, Any]) -> JsonResponse:
    """Send a text as typed to the sandbox."""
    shown = _preview(words, variables)
    if shown.rendered is None:
        return _json_response("\n".join(shown.problems), "")
    sent = test_send.send(shown.rendered, words.channel, locale=words.locale)
    if isinstance(sent, Problem):
        return _json_response(sent.detail, "")
    link = reverse("admin:notifications_notification_change", args=[sent.notification_id])
    page = sent.page and f"{sent.page}?channel={words.channel.label}"
    return _json_response("", "Sent to the sandbox.", link=link, page=page)


def _send_test(
    request: HttpRequest,
    version: Template,
    words: TextSource,
    variables: Mapping[str, Any],
    *,
    to: str | None,
) -> JsonResponse:
    """Send a text as typed through the live route: to the operator, or to a list of accounts."""
    shown = _preview(words, variables)
    if shown.rendered is None:
        return _json_response("\n".join(shown.problems), "")
    user = cast("User", request.user)  # `admin_view` admits signed-in operators only
    text = MarkedText(
        shown.rendered,
        words.channel,
        template=str(version),
        files=attachments.of_template(version.attachments),
    )
    try:
        is_accepted, line = (
            test_send.send_to_operator(user, text)
            if to is None
            else test_lists.send(to, text, by=user)
        )
    except CannotSend as error:
        return _json_response(str(error), "")
    return _json_response("" if is_accepted else line, line)


def objections_of(version: Template) -> str:
    """Return the objections to publishing as HTML; empty: none, or a published version."""
    found = rows.objections(version) if version.published_at is None else []
    return render_to_string("template_studio/objections.html", {"objections": found})


def _json_response(
    fault: str, done: str, *, shown: Mapping[str, str] | None = None, **links: str
) -> JsonResponse:
    """Return a message for the author, the error or the success, and further parts of the page."""
    context = {"fault": fault, "done": done, **links}
    told = render_to_string("template_studio/told.html", context)
    return JsonResponse({"told": told, "fault": fault, **(shown or {})})


def _says_something(words: TextSource) -> bool:
    if words.variant:
        return not variants.is_empty(words)
    return bool(words.title) or variants.has_content(words)


def _as_sent(texts: Sequence[TextSource], words: TextSource) -> TextSource:
    """Return a typed text with the fields of its base text; without one, as typed."""
    place = words.channel, words.locale, ""
    base = (text for text in texts if (text.channel, text.locale, text.variant) == place)
    found = variants.completed([*base, words]) if words.variant else []
    return next((text for text in found if text.variant), words)


def _instead(texts: Sequence[TextSource], words: TextSource) -> TextSource | None:
    """Return the fallback text for recipients while `words` is empty."""
    others = [text for text in texts if not text.variant]
    if not words.variant:
        others = [text for text in others if text.locale != words.locale]
    return previews.chosen(others, words.channel, words.locale)


def _name_of_other(chosen: TextSource | None, words: TextSource) -> str:
    """Return the name of a text that recipients get in place of `words`; empty: there is none."""
    if chosen is None or (chosen.locale, chosen.variant) == (words.locale, words.variant):
        return ""
    return chosen.locale if chosen.locale != words.locale else f"{chosen.locale}, the base text"


def _first(there: Sequence[str]) -> str:
    return locales.choose(there, locales.DEFAULT) or locales.DEFAULT


def _panels(
    request: HttpRequest,
    version: Template,
    texts: Sequence[TextSource],
    locale: str,
    variant: str,
) -> Iterator[EditorPanel]:
    """Yield the panels of the channels; a variant has those with a base text in the locale."""
    samples = previews.samples(texts, version.variables)
    in_locale = [text for text in texts if text.locale == locale]
    bases = {text.channel: text for text in in_locale if not text.variant}
    written = {text.channel: text for text in in_locale if text.variant == variant}
    channels = {*bases, *written} if variant else {text.channel for text in texts}
    asked = request.GET.get("channel")
    if not variant:
        channels |= {each for each in Channel if each.label == asked}
    for channel in sorted(channels):
        chosen = previews.chosen(texts, channel, locale, variant=variant)
        copies = "copy" in request.GET and (not variant or channel.label == asked)
        own = written.get(channel) or (chosen if copies else None)
        empty = TextSource(channel=channel, locale=locale, variant=variant)
        yield EditorPanel(
            words=own or empty,
            base=bases.get(channel) if variant else None,
            instead="" if own else _name_of_other(chosen, empty),
            preview=_preview(chosen, samples, version) if chosen else None,
            files=attachments.of_template(version.attachments),
        )


def _preview(
    words: TextSource, variables: Mapping[str, Any], version: Template | None = None
) -> Preview:
    """Render a text; with a version, warn about the unsubscribe link of its mails."""
    types = None
    if version and words.channel is Channel.EMAIL and not wording.has_link(words):
        types = template_uses.marketing_types(template_uses.uses(version.template_id))
    return previews.preview(
        words,
        variables,
        url_schemes=conf.current().inbox_url_schemes,
        brand=brands.of(None),
        marketing_types=types or (),
        chat_schemes=routing.chat_schemes(),
    )


def _parse_texts(request: HttpRequest, version: Template) -> list[TextSource]:
    """Return the texts of the form: a text per shown channel, including empty texts.

    Properties missing from the form (SMS options) keep the stored values.
    """
    locale = locales.normalize(request.POST.get("locale", "") or locales.DEFAULT)
    place = locale, request.POST.get("variant", "")
    texts = versions.content_of(version).texts
    there = {text.channel: text for text in texts if (text.locale, text.variant) == place}
    return [
        contents.normalize(
            dataclasses.replace(
                there.get(channel, TextSource(channel=channel, locale=locale, variant=place[1])),
                **_sources_of_form(channel, request.POST),
                in_app=_part_of_form(channel, request.POST),
            )
        )
        for channel in Channel
        if f"{channel.label}-body" in request.POST
    ]


def _faults(words: TextSource) -> Iterator[str]:
    if not words.variant and not variants.has_content(words):
        yield f"{words.channel.label}: the text is empty."
    yield from wording.fault_sentences(words)


def _variables(request: HttpRequest) -> tuple[dict[str, Any], str]:
    """Return the sample variables of the form, and the error."""
    try:
        variables = json.loads(request.POST.get("variables") or "{}")
    except (ValueError, RecursionError) as error:
        return {}, f"The variables are not JSON: {error}"
    if not isinstance(variables, dict):
        return {}, 'The variables must be a JSON object: {"name": "value"}'
    return variables, ""


def _sources_of_form(channel: Channel, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the sources of a submitted form; a mail has blocks, or a text and HTML."""
    names = ("title", "body", "html", "blocks")
    given = {name: form.get(f"{channel.label}-{name}", "") for name in names}
    written_as = form.get(f"{channel.label}-written-as", "blocks" if given["blocks"] else "html")
    others = {"body": "", "html": ""} if written_as == "blocks" else {"blocks": ""}
    return given | others


def _part_of_form(channel: Channel, form: Mapping[str, str]) -> InAppPart:
    """Return the part of a submitted form; an action without any text is none."""
    prefix = channel.label
    actions = [
        Action(*(form.get(f"{prefix}-action-{number}-{field}", "") for field in Action._fields))
        for number in range(1, MAX_ACTIONS + 1)
    ]
    return InAppPart(
        form.get(f"{prefix}-url", ""), form.get(f"{prefix}-image_url", ""), tuple(actions)
    )
