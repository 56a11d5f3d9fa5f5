"""Follows the links of the pages of the admin."""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from django.test import Client

_HREF: Final = re.compile(r"href=\\?[\"']([^\"'\\]+)")
_MOST_PAGES: Final = 250
_LEFT_OUT: Final = ("/admin/logout/", "/admin/jsi18n/")


def dead_links(client: Client, starts: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Follow the links from some pages; returns address -> status and the page with the link."""
    waiting = deque((start, "") for start in starts)
    known, shapes, dead = {each for each, _ in waiting}, dict[str, int](), {}
    for _ in range(_MOST_PAGES):
        if not waiting:
            break
        address, source = waiting.popleft()
        answer = client.get(address, follow=False)
        if answer.status_code >= 400:
            dead[address] = (answer.status_code, source)
            continue
        if answer.status_code // 100 == 3:
            body = f'href="{answer.headers["Location"]}"'
        elif answer.streaming or "charset" not in answer.headers.get("Content-Type", "json"):
            body = "" if answer.streaming else answer.content.decode(errors="replace")
        else:
            body = answer.content.decode()
        for link in sorted(_links(body, at=address)):
            shape = _shape(link)
            if link not in known and shapes.get(shape, 0) < 2:
                known.add(link)
                shapes[shape] = shapes.get(shape, 0) + 1
                waiting.append((link, address))
    return dead


def _links(page: str, *, at: str) -> set[str]:
    found = set()
    for href in _HREF.findall(page):
        parts = urlsplit(urljoin(at, html.unescape(href)))
        is_ours = parts.path.startswith("/admin/") and not parts.netloc
        if is_ours and not parts.path.startswith(_LEFT_OUT):
            found.add(parts._replace(fragment="").geturl())
    return found


def _shape(address: str) -> str:
    """Return the address without ids and values: two pages of a shape are looked at."""
    parts = urlsplit(address)
    path = re.sub(r"/(\d+|[0-9a-f-]{36})(?=/)", "/ID", parts.path)
    return path + "?" + "&".join(sorted(pair.split("=")[0] for pair in parts.query.split("&")))
