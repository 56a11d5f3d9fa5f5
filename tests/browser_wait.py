"""The one wait of browser tests: a look at a page that is being replaced is repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from selenium.common.exceptions import (
    NoSuchElementException,
    NoSuchFrameException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

Found = TypeVar("Found")

WAIT_SECONDS: Final = 30
_REPLACED: Final = (
    "does not belong to the document",
    "aborted by navigation",
    "frame detached",
)
"""Parts of errors of chromedriver, which are not the standard's error for a stale element: the page
or the frame was replaced between the search for an element and the read."""


def wait_until(
    chrome: Chrome, look: Callable[[], Found], message: str = "", *, seconds: float = WAIT_SECONDS
) -> Found:
    """Repeat `look` until its answer is true, and return the answer.

    Raises TimeoutException after `seconds`, with the message. An element that is missing, or that a
    new page or a script replaced during the look, counts as an answer that is not true.
    """

    def answer(_: Chrome) -> Found | None:
        try:
            return look()
        except (NoSuchElementException, NoSuchFrameException, StaleElementReferenceException):
            return None
        except WebDriverException as error:
            if any(each in str(error.msg) for each in _REPLACED):
                return None
            raise

    found = WebDriverWait(chrome, seconds, poll_frequency=0.1).until(answer, message)
    assert found is not None
    return found
