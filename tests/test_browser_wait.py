"""The wait of browser tests repeats a look at a page that is being replaced, and no other error."""

from __future__ import annotations

from typing import cast

import pytest
from selenium.common.exceptions import (
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
    WebDriverException,
)
from selenium.webdriver import Chrome

from tests.browser_wait import wait_until

_NO_BROWSER = cast("Chrome", None)


@pytest.mark.parametrize(
    "error",
    [
        NoSuchElementException("none"),
        StaleElementReferenceException("stale"),
        WebDriverException(
            'unknown error: unhandled inspector error: {"code":-32000,"message":"Node with given'
            ' id does not belong to the document"}'
        ),
        WebDriverException("aborted by navigation: Inspected target navigated or closed"),
    ],
)
def test_a_look_at_a_replaced_page_is_repeated(error: WebDriverException) -> None:
    looks = iter(range(3))

    def look() -> str:
        if next(looks) < 2:
            raise error
        return "the new page"

    assert wait_until(_NO_BROWSER, look) == "the new page"


def test_another_error_ends_the_wait() -> None:
    def look() -> str:
        raise WebDriverException("chrome not reachable")

    with pytest.raises(WebDriverException, match="not reachable"):
        wait_until(_NO_BROWSER, look)


def test_a_wait_ends_and_names_what_is_missing() -> None:
    with pytest.raises(TimeoutException, match="the title"):
        wait_until(_NO_BROWSER, lambda: "", "the title", seconds=0.2)
