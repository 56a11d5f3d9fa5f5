"""Templates as files, as the command `notify templates` reads and stores them."""

from __future__ import annotations

from typing import Any

import pytest
from babel import Locale

from notifications.core.models import AuditEntry
from notifications.core.rules.templates.contents import MAX_TEXTS
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/templates/hello/files"
FILES = {"push.en.txt": "Hello\n\nGood day.\n"}


def stored(caller: Caller, files: dict[str, str], **more: object) -> dict[str, Any]:
    answer = caller.send("PUT", PATH, {"files": files, **more})
    assert answer.status_code == 200, answer.content
    made: dict[str, Any] = answer.json()
    return made


def test_files_are_stored_once_and_read_again(caller: Caller) -> None:
    made = stored(caller, FILES, note="from git")
    assert (made["version"], made["effect"]) == (1, "drafted")
    assert made["review_url"].endswith("/publish/")
    assert stored(caller, FILES)["effect"] == "unchanged"
    told = caller.get(PATH).json()
    assert (told["version"], told["state"]) == (1, "draft")
    assert told["files"]["push.en.txt"] == FILES["push.en.txt"]
    assert stored(caller, told["files"])["effect"] == "unchanged"
    assert caller.get("/v1/templates/hello/versions/1").json()["note"] == "from git"
    written = AuditEntry.objects.filter(operation="put_template_files")
    assert [caller.key.prefix in entry.by for entry in written] == [True]


def test_the_current_version_is_read_unless_another_is_named(caller: Caller) -> None:
    stored(caller, FILES)
    assert caller.post("/v1/templates/hello/publish", {"version": 1}).status_code == 200
    newer = {"push.en.txt": "Hello\n\nGood night.\n"}
    assert stored(caller, newer)["version"] == 2
    assert caller.get(PATH).json()["files"]["push.en.txt"] == FILES["push.en.txt"]
    assert caller.get(f"{PATH}?version=2").json()["files"]["push.en.txt"] == newer["push.en.txt"]
    assert caller.get(f"{PATH}?version=3").status_code == 404


def test_a_published_version_has_no_page_for_a_review(caller: Caller) -> None:
    stored(caller, FILES)
    caller.post("/v1/templates/hello/publish", {"version": 1})
    assert stored(caller, FILES) == {
        "template_id": "hello", "version": 1, "effect": "unchanged", "review_url": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"push.en.txt": "no title"}, "hello/push.en.txt: line 2: the first line is the title"),
        ({"push.en.txt": "Hi\n\n{{ a"}, "hello/push.en.txt: line 1"),
        ({"../push.en.txt": "Hi\n\na"}, "hello/../push.en.txt: a text is called"),
        ({"template.json": "[]"}, "hello/template.json: it holds one JSON object"),
        ({"template.json": '{"colour": 1}'}, "hello/template.json: no colour"),
    ],
)
def test_a_wrong_file_is_named_and_nothing_is_stored(
    caller: Caller, files: dict[str, str], place: str
) -> None:
    answer = caller.send("PUT", PATH, {"files": files})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == "/files"
    assert error["detail"].startswith(place)
    assert caller.get(PATH).status_code == 404


@pytest.mark.parametrize("files", [{}, {"x" * 65: ""}, {"push.en.txt": "a" * 1_000_000}])
def test_files_have_bounds(caller: Caller, files: dict[str, str]) -> None:
    assert caller.send("PUT", PATH, {"files": files}).status_code in {413, 422}


def _texts(count: int) -> dict[str, str]:
    """Return files of as many texts, each in another language or region."""
    territories = map(str, Locale("en").territories)
    regions = [each for each in territories if len(each) == 2 and each.isalpha()]
    names = [f"push.{language}-{each}.txt" for language in ("en", "de", "fr") for each in regions]
    return dict.fromkeys(names[:count], "Hi\n\nGood day.\n")


def test_a_version_has_a_greatest_number_of_texts(caller: Caller) -> None:
    answer = caller.send("PUT", PATH, {"files": _texts(MAX_TEXTS + 1)})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["detail"] == (
        "hello/*: 601 texts; a version has at most 600, one for each channel, locale and variant"
    )
    assert caller.get(PATH).status_code == 404
    assert stored(caller, _texts(MAX_TEXTS))["effect"] == "drafted"
    assert len(caller.get(PATH).json()["files"]) == MAX_TEXTS + 1


def test_a_name_that_no_template_can_have_is_not_found(caller: Caller) -> None:
    assert (
        caller.send("PUT", f"/v1/templates/{'x' * 65}/files", {"files": FILES}).status_code == 404
    )


def test_a_reader_cannot_store_files(make_caller: MakeCaller) -> None:
    reader = make_caller("reader", scopes=["templates:read"])
    assert reader.send("PUT", PATH, {"files": FILES}).status_code == 403
    assert reader.get(PATH).status_code == 404
