"""`/embed/{version}/{name}`: the web components, for the pages of other sites.

    make embed ──> static/notifications/embed/current/*.js ──> /embed/<version>/notify-push.js
                   static/notifications/embed/<version>/*.js   (versions of former releases)

The core and each feature have such a folder, with versions of its own. `version` is a digest of the
files, so a version never changes: browsers keep its files for a year, and the `integrity` of a page
stays right. An upgrade removes no version that a page may name, because `make embed` keeps the
files of the last release in a folder of its own. `latest` is the present version, for pages without
`integrity`; browsers keep it for five minutes. An unknown version is a 404.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html
from django.views.decorators.http import conditional_page, require_safe

from notifications.core import feature

LATEST: Final = "latest"
PREFERENCES: Final = "notify-preferences.js"
_FOLDER: Final = Path("static", "notifications", "embed")
CURRENT: Final = "current"
"""Name of the folder with the present version."""
_VERSION: Final = re.compile(r"[0-9a-f]{12}")
_YEAR: Final = "public, max-age=31536000, immutable"
_FIVE_MINUTES: Final = "public, max-age=300"
_HEADERS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Bundle:
    """One file of a version."""

    content: bytes = field(repr=False)
    compressed: bytes = field(repr=False)

    @property
    def integrity(self) -> str:
        """The value of the attribute `integrity` (Subresource Integrity)."""
        return "sha384-" + b64encode(hashlib.sha384(self.content).digest()).decode()


Version = Mapping[str, Bundle]


def version_of(files: Mapping[str, bytes]) -> str:
    """Return the version of files by name: 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])}\n".encode() + files[name])
    return digest.hexdigest()[:12]


def folders() -> list[Path]:
    """Return the folders of the core and of the features, each with a folder for each version."""
    core = Path(__file__).resolve().parents[1]
    homes = [core, *(Path(each.path) for each in feature.all_features())]
    return [home / _FOLDER for home in homes if (home / _FOLDER).is_dir()]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a version by name."""
    return {each.name: each.read_bytes() for each in folder.glob("*.js")}


@functools.cache
def versions() -> Mapping[str, Version]:
    """Return every version; `latest` has the files of the present ones.

    Raises:
        ValueError: the files of a former version do not have the digest that the folder names.
    """
    found: dict[str, dict[str, Bundle]] = {LATEST: {}}
    for folder in (each for home in folders() for each in sorted(home.iterdir())):
        if folder.name == CURRENT or _VERSION.fullmatch(folder.name):
            files = files_of(folder)
            version = version_of(files)
            if folder.name not in {CURRENT, version}:
                raise ValueError(f"{folder}: the files have the digest {version}")
            found[version] = {
                name: Bundle(content, gzip.compress(content, mtime=0))
                for name, content in files.items()
            }
            if folder.name == CURRENT:
                found[LATEST] |= found[version]
    return found


@functools.cache
def current_versions() -> Mapping[str, str]:
    """Return the present version of each file, by the name of the file."""
    present = [files_of(home / CURRENT) for home in folders()]
    return {name: version_of(files) for files in present for name in files}


def path_of(name: str) -> str:
    """Return the path of a file in its present version."""
    return f"/embed/{current_versions()[name]}/{name}"


def script_tag(name: str, *, public_url: str) -> str:
    """Return the HTML of the script element that loads a file of the present version."""
    return format_html(
        '<script type="module" src="{}{}" integrity="{}" crossorigin="anonymous"></script>',
        public_url.rstrip("/"),
        path_of(name),
        versions()[LATEST][name].integrity,
    )


@require_safe
@conditional_page
def file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """Return a file of a version.

    Raises:
        Http404: there is no such version or file.
    """
    bundle = versions().get(version, {}).get(name)
    if bundle is None:
        raise Http404
    wants_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(
        bundle.compressed if wants_gzip else bundle.content,
        content_type="text/javascript; charset=utf-8",
        headers=_HEADERS,
    )
    response.headers["Cache-Control"] = _FIVE_MINUTES if version == LATEST else _YEAR
    if wants_gzip:
        response.headers["Content-Encoding"] = "gzip"
    return response
