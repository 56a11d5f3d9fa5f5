"""The HTML pages for recipients: one style, strict headers, the language, and the pages of faults.

The URL of a page is a credential. So a page loads nothing but the logo of the brand, runs no
script, sends no referrer, is not cached and is not indexed. There is no cookie and no CSRF token:
another site cannot know the URL. No response redirects.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext

from notifications.core.delivery import preference_links
from notifications.core.rules.brand import DEFAULT, Brand
from notifications.core.rules.language import locales, page_languages
from notifications.core.rules.language.page_languages import PAGE_LANGUAGES
from notifications.core.store.cached import brands

_RETRY_AFTER_SECONDS: Final = "60"
_MOST_STYLES: Final = 100
_PRODUCER: Final = re.compile("[0-9]{1,9}")
_STYLE: Final = """
:root { color-scheme: light dark; --paper: #f4f4f5; --card: #fff; --ink: #18181b; --line: #71717a;
  --soft: #52525b; --deed: #1d4ed8; --ink-on-deed: #fff; --good: #166534; --bad: #b91c1c }
@media (prefers-color-scheme: dark) {
  :root { --paper: #18181b; --card: #27272a; --ink: #f4f4f5; --line: #a1a1aa; --soft: #d4d4d8;
    --good: #86efac; --bad: #fca5a5 }
}
* { box-sizing: border-box }
body { font: 1.0625rem/1.55 system-ui, sans-serif; margin: 0; background: var(--paper);
  color: var(--ink) }
main { max-width: 34rem; margin: clamp(1rem, 10vh, 6rem) auto; padding: 1.75rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem }
main.wide { max-width: 44rem; margin-block: 2rem }
@media (max-width: 34rem) { main, main.wide { margin: 0; min-height: 100vh; border: 0;
  border-radius: 0; padding: 1.25rem } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .25rem }
a { color: inherit }
fieldset { border: 0; margin: 0 0 1.5rem; padding: 0; min-width: 0 }
legend { margin-bottom: .75rem; padding: 0; color: var(--soft) }
label { display: flex; gap: .75rem; align-items: baseline; padding: .75rem 1rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: .75rem; margin-bottom: .5rem;
  overflow-wrap: anywhere }
button { font: inherit; font-weight: 600; padding: .75rem 1.5rem; cursor: pointer; width: 100%;
  border: 0; border-radius: .75rem; background: var(--deed); color: var(--ink-on-deed) }
.back { background: none; color: inherit; border: 1px solid var(--line); margin-top: .5rem }
:focus-visible { outline: 3px solid var(--deed); outline-offset: 2px }
@media (prefers-color-scheme: dark) { :focus-visible { outline-color: #93c5fd } }
.soft { color: var(--soft); margin: 0 0 .75rem }
.good, .bad { border: 2px solid; border-radius: .75rem; padding: .75rem 1rem }
.good { color: var(--good) }
.bad { color: var(--bad) }
.languages { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0 0 1.25rem; padding: 0;
  list-style: none }
.languages a { display: inline-block; padding: .25rem 0; min-height: 1.75rem }
.languages [aria-current] { font-weight: 700; text-decoration: none }
.part { border-top: 1px solid var(--line); padding-top: 1.25rem; margin-bottom: 1.5rem }
.topic { margin: 0 0 1rem }
.topic legend { color: var(--ink); font-weight: 600; margin: 0; overflow-wrap: anywhere }
.cells { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .5rem }
.cells label { margin: 0; padding: .5rem .9rem; min-height: 2.75rem; align-items: center;
  gap: .5rem }
.cells label.locked { cursor: not-allowed; border-style: dashed; color: var(--soft) }
input[type=checkbox] { width: 1.15rem; height: 1.15rem; flex: none; margin: 0;
  accent-color: var(--deed) }
details { margin: .75rem 0 1rem; padding-inline-start: 1rem; border-inline-start: 3px solid
  var(--line) }
summary { cursor: pointer; padding: .5rem 0; min-height: 2.75rem }
.field { display: block; border: 0; padding: 0; margin: 0; cursor: auto }
.cells + .field { margin-top: .75rem }
.field input, .field select { display: block; width: 100%; font: inherit; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin-top: .25rem;
  padding: .6rem .75rem; min-height: 2.75rem }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem }
"""
_BRANDED_STYLE: Final = """
:root { --deed: %(color)s; --ink-on-deed: %(color_text)s }
.brand { margin: 0 0 1.25rem; font-weight: 700; overflow-wrap: anywhere }
.brand img { display: block; width: fit-content; max-height: 3rem; max-width: 100%% }
input[type=radio] { accent-color: var(--deed) }
@media (prefers-color-scheme: dark) {
  .brand img { background: #fff; color: #18181b; padding: .35rem; border-radius: .35rem }
}
"""
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@functools.lru_cache(maxsize=_MOST_STYLES)
def _style_of(color: str, color_text: str) -> tuple[str, str]:
    """Return the style sheet in the colours of a brand, and its hash for the policy."""
    style = _STYLE + _BRANDED_STYLE % {"color": color, "color_text": color_text}
    return style, base64.b64encode(sha256(style.encode()).digest()).decode()


def brand_of(request: HttpRequest) -> Brand:
    """Return the brand of the producer that the link names; the default while Postgres is away."""
    named = request.GET.get(preference_links.BRAND, "")
    producer_id = int(named) if _PRODUCER.fullmatch(named) else None
    try:
        return brands.of(producer_id)
    except (OperationalError, InterfaceError):
        return DEFAULT


def brand_query(request: HttpRequest, *, begin: str = "?") -> str:
    """Return the parameter of the brand for a link to another page; empty without one."""
    named = request.GET.get(preference_links.BRAND, "")
    return f"{begin}{preference_links.BRAND}={named}" if _PRODUCER.fullmatch(named) else ""


def _policy(style_hash: str, brand: Brand) -> str:
    """Return the policy: the page loads nothing but the logo."""
    images = f" img-src {brand.logo_origin};" if brand.logo_origin else ""
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}';{images}"
        " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def language_for(request: HttpRequest, *, locale: str = "") -> str:
    """Return the page language: the parameter `language`, the recipient's locale, the browser."""
    browser = request.headers.get("Accept-Language", "")
    tags = [each.partition(";")[0].strip() for each in browser.split(",")]
    return page_languages.choose([request.GET.get("language", ""), locale, *tags])


def expired_link(request: HttpRequest) -> HttpResponse:
    """Return the page for a link past its lifetime: 410, with the way to another link."""
    language = language_for(request)
    with translation.override(language):
        title = gettext("This link has expired")
        said = gettext(
            "Open the link in a newer message from us, or the notification settings in the app or"
            " on the website, to get a new link. Your settings stay as they are."
        )
    return _message(request, title, said, language=language, status=HTTPStatus.GONE)


def broken_link(request: HttpRequest) -> HttpResponse:
    """Return the page for a forged or cut link, or a link of an erased recipient: 404."""
    language = language_for(request)
    with translation.override(language):
        title = gettext("This link does not work")
        said = gettext(
            "It may have been cut off. Open it from the message again, or answer the message."
        )
    return _message(request, title, said, language=language, status=HTTPStatus.NOT_FOUND)


def nothing_changed(request: HttpRequest, *, title: str, language: str) -> HttpResponse:
    """Return the page for a request that cannot be served now: 503, with Retry-After.

    Args:
        request: the request.
        title: heading of the page, as the source text of the catalogues.
        language: the page language.
    """
    with translation.override(language):
        said = gettext("Nothing was changed. Please try again in a minute.")
        shown = gettext(title)
    answer = _message(
        request, shown, said, language=language, status=HTTPStatus.SERVICE_UNAVAILABLE
    )
    answer["Retry-After"] = _RETRY_AFTER_SECONDS
    return answer


def _message(
    request: HttpRequest, title: str, said: str, *, language: str, status: int
) -> HttpResponse:
    context = {"title": title, "said": said}
    return render_page(
        request, "preferences/message.html", context, language=language, status=status
    )


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object],
    *,
    language: str,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Render a page in a language, with the headers of the pages for recipients."""
    brand = brand_of(request)
    style, style_hash = _style_of(brand.color, brand.color_text)
    shown = {
        **context,
        "brand": brand.variables,
        "brand_parameter": brand_query(request, begin="&"),
        "language": language,
        "direction": locales.direction(language),
        "languages": PAGE_LANGUAGES.items(),
        "style": style,
    }
    with translation.override(language):
        answer = render(request, template, shown, status=status)
    for name, value in _HEADERS.items():
        answer[name] = value
    answer["Content-Security-Policy"] = _policy(style_hash, brand)
    return answer
