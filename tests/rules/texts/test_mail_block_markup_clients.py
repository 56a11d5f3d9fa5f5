"""The constructs of a mail in blocks, compared with the data of caniemail.com.

The clients are Apple Mail, Gmail, and Outlook. A construct that one of them does not support, or
supports in part, is in a table here with the reason why the mail is whole without it.

`npm ci --prefix .ci/caniemail --ignore-scripts` fetches the data.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from notifications.core.rules.brand import Brand, BrandLink
from notifications.core.rules.language.templating import Reader
from notifications.core.rules.texts import wording
from tests.rules.texts.test_mail_blocks import EVERY_BLOCK, VARIABLES, text

_FOLDER: Final = Path(__file__).resolve().parents[3] / ".ci/caniemail"
_NODE: Final = shutil.which("node")
_BRAND: Final = Brand(
    name="Acme",
    logo_url="https://img.example/logo.png",
    footer="Acme Ltd",
    postal_address="Road 1",
    website_url="https://shop.example",
    links=(BrandLink("Help", "https://shop.example/help"),),
)
_UNSUPPORTED: Final = {
    "<body> element": "becomes a div; the background is that of a table",
    "display:none": "Gmail with an account of another service shows the preheader above the mail",
    "border-radius": "a button has square corners",
    "white-space": "Outlook for Windows joins the lines of footer and address",
}
_PARTIAL: Final = {
    "<body> element": "becomes a div",
    "<ul>, <ol> and <dl>": "`reversed` is missing",
    "align attribute": "not on a table; it is used on cells",
    "border": "up to eight pixels; it is used on cells",
    "dir attribute": "not on a link",
    "display": "of the link in a button: the cell has `mso-padding-alt`",
    "display:none": "not on an image",
    "font-size": "in pixels only",
    "font-weight": "bold only",
    "height attribute": "does not scale at 120 dpi",
    "line-height": "as a number only",
    "margin": "not negative, and no `auto`",
    "max-width": "not on an image, which has a width; Outlook has a table of 600 pixels",
    "padding": "on cells only; a button has `mso-padding-alt`",
    "text-decoration": "of one value only",
    "white-space": "of one value; Outlook for Windows joins the lines",
    "width attribute": "in pixels only on an image",
}


@pytest.mark.skipif(
    not (_NODE and (_FOLDER / "node_modules").is_dir()),
    reason="no data of caniemail.com here: npm ci --prefix .ci/caniemail --ignore-scripts",
)
def test_outlook_gmail_and_apple_mail_support_each_construct() -> None:
    wording_of_mail = wording.compile_text(text(EVERY_BLOCK))
    page = wording_of_mail.render(VARIABLES, Reader("en"), brand=_BRAND).html
    without_sheet, sheets = re.subn(r"<style>(.*?)</style>", "", page, flags=re.DOTALL)
    assert sheets == 2  # the other is for Outlook alone, in a comment
    found = _findings(without_sheet)
    assert found == {"not supported": _UNSUPPORTED.keys(), "partial": _PARTIAL.keys()}


def test_the_style_sheet_holds_only_what_a_mail_is_whole_without() -> None:
    page = wording.compile_text(text(EVERY_BLOCK)).render(VARIABLES, Reader("en")).html
    sheet = page[page.index("<style>") + len("<style>") : page.index("</style>")]
    rules = re.findall(r"^(\S.*) \{$", sheet, flags=re.MULTILINE)
    assert rules == ["@media (max-width: 480px)", "@media (prefers-color-scheme: dark)"]


def _findings(page: str) -> dict[str, set[str]]:
    """Return the features that a client does not support, and those that it supports in part."""
    done = subprocess.run(
        [str(_NODE), str(_FOLDER / "check.mjs")],
        input=page,
        capture_output=True,
        text=True,
        check=True,
    )
    return {kind: set(features) for kind, features in json.loads(done.stdout).items()}
