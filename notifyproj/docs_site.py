"""Serves the documentation site that `make docs` builds into `var/site`, at `/docs/`."""

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
    """Return a file of the site; 404 with instructions if the site is not built."""
    root = Path(settings.DOCS_SITE)
    try:
        content = Path(safe_join(root, path or "index.html")).read_bytes()
    except (OSError, ValueError, SuspiciousFileOperation):
        is_built = (root / "index.html").is_file()
        return render(request, "docs/missing.html", {"is_built": is_built}, status=404)
    content_type, _ = mimetypes.guess_type(path or "index.html")
    response = HttpResponse(content, content_type=content_type or "application/octet-stream")
    response.headers["Cache-Control"] = f"max-age={_ASSET_SECONDS}"
    if content_type == "text/html":
        response.headers["Cache-Control"] = "no-cache"
        response.headers[HEADER] = _POLICY.format(scripts=_hashes(content))
    return response


def _hashes(page: bytes) -> str:
    """Return the policy's source expressions for the inline scripts of the page, and no more."""
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)
