"""Drafting, publishing, going back and looking, as a pipeline of somebody else's would do it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from notifications.core import clock
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import template_cache, versions
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/templates"
HELLO = f"{PATH}/hello"


def text(body: str, **more: str) -> dict[str, str]:
    return {"channel": "push", "locale": "en", "title": "Hi", "body": body, **more}


def draft(caller: Caller, *texts: Mapping[str, object], **more: object) -> dict[str, Any]:
    body = {"template_id": "hello", "texts": list(texts), **more}
    answer = caller.post(PATH, body)
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def published(caller: Caller, body: str) -> dict[str, Any]:
    version = draft(caller, text(body))["version"]
    answer = caller.post(f"{HELLO}/publish", {"version": version})
    assert answer.status_code == 200, answer.content
    made: dict[str, Any] = answer.json()
    return made


def test_a_template_is_drafted_and_read_again(caller: Caller) -> None:
    made = draft(caller, text("Olá\r\n", locale="pt_br"), sensitive_variables=["code"], note="new")
    assert (made["version"], made["state"], made["published_at"]) == (1, "draft", None)
    assert (made["created_by"], made["note"]) == (caller.key.prefix, "new")
    assert made["sensitive_variables"] == ["code"]
    assert made["texts"] == [
        {"channel": "push", "locale": "pt-BR", "title": "Hi", "body": "Olá", "html": ""}
        | {"blocks": "", "variant": ""}
        | {"transliterate": False, "max_segments": None, "shorten_links": False}
        | {"url": None, "image_url": None, "actions": []}
        | {"vendor_template": None}
    ]
    assert caller.get(f"{HELLO}/versions/1").json() == made


def test_the_text_of_a_bulk_job_is_read_by_its_name_and_listed_nowhere(caller: Caller) -> None:
    draft(caller, text("Hello"))
    source = TextSource(channel=Channel.SMS, locale="en", body="Closed")
    content = contents.content([source], {"default_locale": "en"})
    made = versions.publish_once(clock.new_notification_id(), content, by="maria")
    assert [each["template_id"] for each in caller.get(PATH).json()["results"]] == ["hello"]
    told = caller.get(f"{PATH}/{made.template_id}/versions/1").json()
    assert (told["state"], told["texts"][0]["body"]) == ("published", "Closed")


def test_a_template_cannot_have_the_name_of_the_text_of_a_bulk_job(caller: Caller) -> None:
    named = {"template_id": f"one-off-{0:032x}", "texts": [text("Hello")]}
    answer = caller.post(PATH, named)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/template_id"
    assert error["detail"] == "this name belongs to the text of a bulk job; choose another name"


def test_an_in_app_text_has_link_image_and_actions(caller: Caller) -> None:
    yes = {"id": "yes", "label": "Yes, {{ name }}"}
    part: dict[str, object] = {"url": "/orders/{{ name }}", "image_url": "/a.png", "actions": [yes]}
    made = draft(caller, {**text("B"), "channel": "in_app", **part})
    assert made["texts"][0]["actions"] == [yes | {"url": None}]
    assert made["texts"][0]["url"] == part["url"]
    told = caller.post(f"{HELLO}/preview", {"channel": "in_app", "variables": {"name": "Ana"}})
    assert told.json()["actions"] == [{"id": "yes", "label": "Yes, Ana", "url": None}]
    assert (told.json()["url"], told.json()["image_url"]) == ("/orders/Ana", "/a.png")


def test_a_push_text_has_a_link_and_an_image_but_no_actions(caller: Caller) -> None:
    asked = {"url": "/orders/{{ name }}", "image_url": "/a.png"}
    made = draft(caller, text("B") | asked | {"actions": [{"id": "yes", "label": "Yes"}]})
    assert made["texts"][0].items() >= {**asked, "actions": []}.items()
    told = caller.post(f"{HELLO}/preview", {"channel": "push", "variables": {"name": "Ana"}})
    assert (told.json()["url"], told.json()["image_url"]) == ("/orders/Ana", "/a.png")


def test_a_variant_has_what_differs_and_a_preview_of_the_whole(caller: Caller) -> None:
    base = text("Hello {{ name }}", url="/sale")
    variant = {"channel": "push", "variant": "b", "title": "Last day"}
    made = draft(caller, variant, base, text("Olá", locale="pt"))
    stored = {(each["locale"], each["variant"]): each for each in made["texts"]}
    assert stored["en", "b"].items() >= {"title": "Last day", "body": "", "url": None}.items()
    for locale, title, body, of in (("en", "Last day", "Hello Ana", "b"), ("pt", "Hi", "Olá", "")):
        asked = {"channel": "push", "locale": locale, "variant": "b", "variables": {"name": "Ana"}}
        told = caller.post(f"{HELLO}/preview", asked).json()
        assert (told["title"], told["body"], told["variant"]) == (title, body, of)
    answer = caller.post(f"{HELLO}/preview", {"channel": "push", "variant": "c"})
    [error] = answer.json()["errors"]
    assert (error["pointer"], error["detail"]) == (
        "/variant",
        "hello v1 has no variant c; it has b",
    )
    files = caller.get(f"{HELLO}/files").json()["files"]
    assert files["push.en@b.txt"] == "Last day\n\n\n"
    again = caller.send("PUT", f"{HELLO}/files", {"files": files})
    assert again.json()["effect"] == "unchanged"


@pytest.mark.parametrize("title", ["Two\nlines", "\nHello", "Two\r\nlines", "Two\u2028lines"])
def test_a_title_of_several_lines_is_refused(caller: Caller, title: str) -> None:
    texts = [text("x"), text("y") | {"locale": "de", "title": title}]
    answer = caller.post(PATH, {"template_id": "hello", "texts": texts})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/texts/1/title")
    texts[1] |= {"title": "One line \n"}
    assert caller.post(PATH, {"template_id": "hello", "texts": texts}).status_code == 201


@pytest.mark.parametrize(
    ("variant", "pointer"),
    [
        ({"variant": "b", "locale": "de"}, "/texts/1/variant"),
        ({"variant": "b", "title": "", "body": ""}, "/texts/1/variant"),
        ({"variant": "B"}, "/texts/1/variant"),
        ({"variant": "b" * 33}, "/texts/1/variant"),
        ({"channel": "sms", "variant": "b", "max_segments": 2}, "/texts/1/max_segments"),
        ({"channel": "sms", "variant": "b", "transliterate": True}, "/texts/1/transliterate"),
        ({"variant": "b", "shorten_links": True}, "/texts/1/shorten_links"),
        ({}, "/texts"),
    ],
)
def test_a_wrong_variant_is_refused_at_its_place(
    caller: Caller, variant: dict[str, object], pointer: str
) -> None:
    texts = [text("x"), text("y") | variant]
    answer = caller.post(PATH, {"template_id": "hello", "texts": texts})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def mail(blocks: str, **more: str) -> dict[str, str]:
    return {"channel": "email", "locale": "en", "title": "Hi", "blocks": blocks, **more}


def test_a_mail_in_blocks_is_read_again_as_its_blocks(caller: Caller) -> None:
    blocks = "# Hello {{ name }}\n\n::: button [Pay](https://shop.example)"
    made = draft(caller, mail(f"{blocks}\r\n"))
    kept = made["texts"][0]
    assert (kept["blocks"], kept["body"], kept["html"]) == (blocks, "", "")
    shown = caller.post(f"{HELLO}/preview", {"channel": "email", "variables": {"name": "<Ada>"}})
    assert "Hello &lt;Ada&gt;</h1>" in shown.json()["html"]
    assert shown.json()["body"].split() == ["Hello", "<Ada>", "Pay", "(https://shop.example)"]
    assert shown.json()["problems"] == []
    assert caller.post(f"{HELLO}/publish", {"version": 1}).status_code == 200
    again = draft(caller, {name: kept[name] for name in ("channel", "locale", "title", "blocks")})
    assert again["texts"] == made["texts"]
    draft(caller, mail("# Bye"))
    patch = caller.get(f"{HELLO}/diff?from=1&to=3").json()["diff"].splitlines()
    assert [line for line in patch if line[:1] in {"-", "+"} and line[1:2] not in {"-", "+"}] == [
        *("-# Hello {{ name }}", "-", "-::: button [Pay](https://shop.example)", "+# Bye")
    ]


@pytest.mark.parametrize(
    ("more", "pointer", "detail"),
    [
        ({"blocks": "a\n::: if"}, "/texts/0/blocks", "line 2: if: the condition is missing"),
        ({"html": "<p>a</p>"}, "/texts/0/html", "blocks make the html of a mail"),
        ({"body": "a"}, "/texts/0/body", "blocks make the body of a mail"),
        ({"channel": "push"}, "/texts/0/blocks", "only an e-mail has blocks"),
        ({"blocks": "a" * 20_001}, "/texts/0/blocks", ""),
    ],
)
def test_broken_blocks_are_refused_at_their_place(
    caller: Caller, more: dict[str, str], pointer: str, detail: str
) -> None:
    answer = caller.post(PATH, {"template_id": "hello", "texts": [mail("Hi") | more]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert detail in answer.json()["errors"][0]["detail"]


def chat(template: object, **more: str) -> dict[str, object]:
    return {"channel": "chat", "body": "Hi {{ name }}", "vendor_template": template, **more}


def test_a_chat_text_names_the_template_of_a_vendor(caller: Caller) -> None:
    template = {"ids": {"whatsapp": "hello/en", "twilio": "HX1"}, "parameters": ["{{ name }}"]}
    made = draft(caller, chat(template))
    assert made["texts"][0]["vendor_template"] == template
    assert draft(caller, chat(None))["texts"][0]["vendor_template"] is None
    patch = caller.get(f"{HELLO}/diff?from=1&to=2").json()["diff"]
    assert '-    "whatsapp": "hello/en"' in patch


@pytest.mark.parametrize(
    ("words", "pointer"),
    [
        (chat({"ids": {"whatsapp": ""}}), "/texts/0/vendor_template/ids/whatsapp"),
        (chat({"ids": {"Whats App": "x"}}), "/texts/0/vendor_template/ids/Whats App"),
        (chat({"parameters": ["a"]}), "/texts/0/vendor_template/ids"),
        (
            chat({"ids": {"whatsapp": "x"}, "parameters": [""]}),
            "/texts/0/vendor_template/parameters/0",
        ),
        (
            chat({"ids": {"whatsapp": "x"}, "parameters": ["{{ x"]}),
            "/texts/0/vendor_template/parameters/0",
        ),
        (chat({"ids": {"whatsapp": "x"}}, channel="push"), "/texts/0/vendor_template"),
    ],
)
def test_a_wrong_template_of_a_vendor_has_its_pointer(
    caller: Caller, words: dict[str, object], pointer: str
) -> None:
    answer = caller.post(PATH, {"template_id": "hello", "texts": [words]})
    assert answer.status_code == 422, answer.content
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_a_wrong_action_of_an_in_app_text_has_its_pointer(caller: Caller) -> None:
    twice = [{"id": "a", "label": "A"}, {"id": "a", "label": "{{ x"}]
    wrong = {**text("B"), "channel": "in_app", "actions": twice}
    answer = caller.post(PATH, {"template_id": "hello", "texts": [wrong]})
    assert answer.status_code == 422, answer.content
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/texts/0/actions/1/label"]


def test_declarations_and_sms_policies_are_kept_and_judged(caller: Caller) -> None:
    name = {"name": "name", "type": "string", "example": "Ada"}
    sms = {"channel": "sms", "body": "ê{{ name }}" * 20, "max_segments": 1, "transliterate": True}
    made = draft(caller, sms, variables=[name], default_locale="pt_br")
    assert (made["variables"], made["default_locale"]) == ([name], "pt-BR")
    assert (made["texts"][0]["max_segments"], made["texts"][0]["transliterate"]) == (1, True)
    wanted = {"channel": "sms", "variables": {"name": "Ж" * 60}}
    told = caller.post(f"{HELLO}/preview", wanted).json()
    assert told["segments"] > 1
    assert told["problems"] == [f"{told['segments']} segments; its limit is 1."]
    needs_more = draft(caller, text("{{ other }}"), variables=[name])
    refused = caller.post(f"{HELLO}/publish", {"version": needs_more["version"]})
    assert refused.status_code == 409
    assert "push en: it needs other" in refused.json()["detail"]


def test_publishing_tells_who_and_when_and_leaves_a_line(caller: Caller) -> None:
    made = published(caller, "Hello")
    assert made["state"] == "published"
    assert made["published_by"] == caller.key.prefix
    told = caller.get(HELLO).json()
    assert told["current_version"] == 1
    assert [step["verb"] for step in told["history"]] == ["published", "drafted"]
    assert set(template_cache.by_name(["hello"])) == {"hello"}


def test_going_back_makes_a_new_version_of_the_old_words(caller: Caller) -> None:
    published(caller, "one")
    published(caller, "two")
    answer = caller.post(f"{HELLO}/rollback", {"version": 1})
    assert answer.status_code == 201
    assert (answer.json()["version"], answer.json()["texts"][0]["body"]) == (3, "one")
    assert caller.get(HELLO).json()["current_version"] == 3


def test_what_cannot_be_published_is_a_conflict(caller: Caller) -> None:
    published(caller, "one")
    for verb in ("publish", "rollback"):
        answer = caller.post(f"{HELLO}/{verb}", {"version": 1})
        assert answer.status_code == 409
        assert answer.json()["code"] == "conflict"


def test_a_diff_is_of_the_current_and_the_newest_unless_it_is_told(caller: Caller) -> None:
    published(caller, "one")
    published(caller, "two")
    draft(caller, text("three"))
    told = caller.get(f"{HELLO}/diff").json()
    assert (told["old_version"], told["new_version"]) == (2, 3)
    assert "-two\n+three\n" in told["diff"]
    chosen = caller.get(f"{HELLO}/diff", **{"from": 1, "to": 2}).json()
    assert chosen["diff"].startswith("--- v1/push.en.txt\n+++ v2/push.en.txt\n")
    assert caller.get(f"{HELLO}/diff", **{"from": 1, "to": 9}).status_code == 404


def test_a_preview_says_that_a_style_sheet_or_the_html_cannot_be_used(caller: Caller) -> None:
    sheet = "<style>.x ~ p {a:b}</style>" + "<br>" * 3_000
    draft(caller, text("x", channel="email", html=sheet))
    styled = caller.post(f"{HELLO}/preview", {"channel": "email"}).json()
    (problem,) = styled["problems"]
    assert problem.startswith("The style sheets are not inlined, and some mail programs ignore")
    assert problem.endswith("3024 elements; the limit is reached at the selector .x ~ p.")
    draft(caller, text("x", channel="email", html="<p>\n<script></script>"))
    refused = caller.post(f"{HELLO}/preview", {"channel": "email", "version": 2}).json()
    assert refused["problems"] == ["email en, HTML, line 2: script has no place in a mail."]


def test_a_preview_renders_measures_and_names_what_is_missing(caller: Caller) -> None:
    draft(caller, text("Hello {{ name }}"), text("Olá {{ name }}é", locale="pt"))
    wanted = {"channel": "push", "locale": "pt-BR", "variables": {"name": "Ana"}}
    told = caller.post(f"{HELLO}/preview", wanted).json()
    assert (told["locale"], told["title"], told["body"]) == ("pt", "Hi", "Olá Anaé")
    assert told["sizes"] == {"title": 2, "body": 10}
    assert (told["missing"], told["problems"]) == ([], [])
    empty = caller.post(f"{HELLO}/preview", {"channel": "push"}).json()
    assert (empty["body"], empty["missing"]) == (None, ["name"])
    assert empty["problems"] == ["It cannot be rendered: the variable 'name' is missing."]
    draft(caller, text("Leave: {{ unsubscribe_url }}", channel="email"))
    mail = caller.post(f"{HELLO}/preview", {"channel": "email", "version": 2}).json()
    assert mail["body"].startswith("Leave: https://notify.example/unsubscribe/")
    assert (mail["missing"], mail["problems"]) == ([], [])
    no_text = caller.post(f"{HELLO}/preview", {"channel": "sms"})
    assert no_text.status_code == 422
    assert no_text.json()["errors"][0]["pointer"] == "/channel"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"template_id": "a b", "texts": [text("x")]}, "/template_id"),
        ({"template_id": "hello", "texts": []}, "/texts"),
        ({"template_id": "hello", "texts": [text("{{ x.__class__ }}")]}, "/texts/0/body"),
        ({"template_id": "hello", "texts": [text("")]}, "/texts/0/body"),
        (
            {
                "template_id": "hello",
                "texts": [text("x")],
                "variables": [{"name": "a", "type": "string"}],
            },
            "/variables",
        ),
        ({"template_id": "hello", "texts": [text("x", channel="pigeon")]}, "/texts/0/channel"),
        ({"template_id": "hello", "texts": [text("x", locale="portuguese!")]}, "/texts/0/locale"),
        ({"template_id": "hello", "texts": [text("x"), text("y", locale="EN")]}, "/texts"),
    ],
)
def test_a_draft_that_makes_no_sense_is_refused_where_it_is_wrong(
    caller: Caller, body: dict[str, object], pointer: str
) -> None:
    answer = caller.post(PATH, body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_templates_are_listed_by_name_in_pages(caller: Caller) -> None:
    for name in ("bravo", "alpha", "charlie"):
        draft(caller, text("x"), template_id=name)
    first = caller.get(PATH, limit=2).json()
    assert [line["template_id"] for line in first["results"]] == ["alpha", "bravo"]
    assert first["results"][0]["current_version"] is None
    rest = caller.get(PATH, limit=2, cursor=first["next"]).json()
    assert [line["template_id"] for line in rest["results"]] == ["charlie"]
    assert rest["next"] is None


def test_each_scope_opens_its_own_doors(make_caller: MakeCaller) -> None:
    published(make_caller(), "one")
    writer = make_caller("pipeline", scopes=("templates:read", "templates:write"))
    assert draft(writer, text("two"))["version"] == 2
    assert writer.post(f"{HELLO}/publish", {"version": 2}).status_code == 403
    reader = make_caller("wiki", scopes=("templates:read",))
    assert reader.get(HELLO).status_code == 200
    assert reader.post(PATH, {}).status_code == 403
    assert make_caller("orders", scopes=("notifications:*",)).get(PATH).status_code == 403


def test_a_template_that_nobody_drafted_is_not_there(caller: Caller) -> None:
    for path in ("", "/versions/1", "/diff"):
        assert caller.get(f"{HELLO}{path}").status_code == 404
    assert caller.post(f"{HELLO}/publish", {"version": 1}).status_code == 404
    draft(caller, text("x"))
    assert caller.get(f"{HELLO}/versions/{10**20}").status_code == 404


@pytest.mark.parametrize("example", ["a\x00b", ["x" * 70_000]])
def test_an_example_that_cannot_be_kept_is_refused(caller: Caller, example: object) -> None:
    kind = "string" if isinstance(example, str) else "list"
    declared = [{"name": "x", "type": kind, "example": example}]
    body = {"template_id": "hello", "texts": [text("{{ x }}")], "variables": declared}
    refused = caller.post(PATH, body)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/variables"]


def test_a_variable_stops_being_sensitive_only_when_the_request_says_so(caller: Caller) -> None:
    draft(caller, text("{{ code }}"), sensitive_variables=["code"])
    assert caller.post(f"{HELLO}/publish", {"version": 1}).status_code == 200
    draft(caller, text("Code {{ code }}"))
    refused = caller.post(f"{HELLO}/publish", {"version": 2})
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("code: sensitive in hello v1 and not here")
    made = draft(caller, text("Code {{ code }}"), no_longer_sensitive=["code"])
    assert made["no_longer_sensitive"] == ["code"]
    assert caller.post(f"{HELLO}/publish", {"version": 3}).status_code == 200
