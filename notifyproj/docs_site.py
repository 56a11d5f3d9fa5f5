"""Serves the documentation at `/docs/`: the site that `make docs` builds into `var/site`.

Without a site the pages of `docs/` are shown as they are, without search and diagrams.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from base64 import b64encode
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils._os import safe_join
from django.views.decorators.http import conditional_page, require_safe

from notifyproj import docs_pages
from notifyproj.csp import HEADER

_INLINE_SCRIPT: Final = re.compile(rb"<script>(.+?)</script>", re.DOTALL)
_POLICY: Final = (
    "default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
_ASSET_SECONDS: Final = 3600


@require_safe
def front(_request: HttpRequest) -> HttpResponseBase:
    """Redirect `/docs` to `/docs/`: the links of the site are relative."""
    return redirect("docs_site", path="")


@require_safe
@conditional_page
def file(request: HttpRequest, path: str) -> HttpResponse:
    """Return a file of the site, or a page without a site; 404 for any other path."""
    root = Path(settings.DOCS_SITE)
    try:
        content = Path(safe_join(root, path or "index.html")).read_bytes()
    except (OSError, ValueError, SuspiciousFileOperation):
        return _page(request, "" if (root / "index.html").is_file() else path or "index.html")
    content_type, _ = mimetypes.guess_type(path or "index.html")
    response = HttpResponse(content, content_type=content_type or "application/octet-stream")
    response.headers["Cache-Control"] = f"max-age={_ASSET_SECONDS}"
    if content_type == "text/html":
        response.headers["Cache-Control"] = "no-cache"
        response.headers[HEADER] = _POLICY.format(scripts=_hashes(content))
    return response


def _page(request: HttpRequest, path: str) -> HttpResponse:
    """Return a page of `docs/`; an empty path stands for no page."""
    page = docs_pages.page(path) if path else None
    if page is None:
        return render(request, "docs/missing.html", status=404)
    up = "../" * path.count("/")
    content = {"page": page, "entries": docs_pages.entries(), "up": up, "path": path}
    response = render(request, "docs/page.html", content)
    response.headers["Cache-Control"] = "no-cache"
    response.headers[HEADER] = _POLICY.format(scripts="")
    return response


def _hashes(page: bytes) -> str:
    """Return the policy's source expressions for the inline scripts of the page, and no more."""
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)
