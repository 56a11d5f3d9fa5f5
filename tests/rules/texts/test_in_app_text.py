"""In-app texts: links and actions are rendered with variables, and nothing unsafe comes out."""

from __future__ import annotations

import pytest

from notifications.core.rules.in_app import Action, InAppPart
from notifications.core.rules.language.templating import Reader, RenderError
from notifications.core.rules.language.variables import Type, Variable
from notifications.core.rules.templates import previews, publishing
from notifications.core.rules.texts import in_app_text, wording
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

NAME = Variable(name="name", type=Type.STRING, example="Ana")
PART = InAppPart(
    url="https://shop.example/?q={{ name }}",
    image_url="/images/{{ name }}.png",
    actions=(
        Action("yes", "Yes, {{ name }}"),
        Action("map", "Map", "{% if place %}/map/{{ place }}{% endif %}"),
        Action("maybe", "{% if place %}Maybe{% endif %}"),
    ),
)


def source(part: InAppPart = PART) -> TextSource:
    return TextSource(channel=Channel.IN_APP, locale="en", title="T", body="B", in_app=part)


def rendered(part: InAppPart, **variables: object) -> InAppPart:
    return wording.compile_text(source(part)).render(variables, Reader()).in_app


def test_links_and_labels_have_their_variables() -> None:
    made = rendered(PART, name="Ana & Bo", place="x")
    assert made.url == "https://shop.example/?q=Ana%20&%20Bo"
    assert made.image_url == "/images/Ana%20&%20Bo.png"
    assert made.actions == (
        Action("yes", "Yes, Ana & Bo"),
        Action("map", "Map", "/map/x"),
        Action("maybe", "Maybe"),
    )


def test_an_action_without_a_link_or_a_label_is_left_out() -> None:
    assert [each.id for each in rendered(PART, name="A", place="").actions] == ["yes"]


def test_a_missing_variable_of_a_link_is_named() -> None:
    with pytest.raises(RenderError, match="place"):
        rendered(PART, name="A")
    assert wording.required_variables(source()) == {"name", "place"}


@pytest.mark.parametrize("name", ["javascript:alert(1)", "java\nscript:x", "//evil.example"])
def test_a_variable_cannot_make_a_link_unsafe(name: str) -> None:
    made = rendered(InAppPart(url="{{ name }}"), name=name)
    with pytest.raises(RenderError, match="url must be an https URL"):
        in_app_text.check_urls(made, ())


def test_a_broken_link_is_an_objection_with_its_name() -> None:
    broken = source(InAppPart(url="{{ name", actions=(Action("a", "{% x %}"),)))
    told = publishing.objections([broken], declared=[])
    assert told[0].startswith("in_app en, link, line 1")
    assert told[1].startswith("in_app en, label of the action a, line 1")


def test_an_unsafe_link_and_a_sensitive_variable_are_objections() -> None:
    unsafe = source(InAppPart(url="javascript:{{ name }}"))
    assert publishing.objections([unsafe], declared=[NAME], sensitive=["name"]) == [
        (
            "in_app en: name: an inbox keeps its messages, so a sensitive variable cannot be part"
            " of them"
        ),
        "in_app en: url must be an https URL or a path such as /orders/1",
    ]
    app = source(InAppPart(url="myapp:x"))
    assert publishing.objections([app], declared=[], url_schemes=["myapp"]) == []


def test_the_link_of_a_push_is_checked_and_may_hold_a_sensitive_variable() -> None:
    push = TextSource(
        channel=Channel.PUSH, locale="en", title="T", body="B", in_app=InAppPart("/x/{{ name }}")
    )
    assert publishing.objections([push], declared=[NAME], sensitive=["name"]) == []
    unsafe = TextSource(
        channel=Channel.PUSH, locale="en", body="B", in_app=InAppPart("http://x.example")
    )
    fault = "url must be an https URL or a path such as /orders/1"
    assert publishing.objections([unsafe], declared=[]) == [f"push en: {fault}"]
    assert previews.preview(unsafe, {}).problems == (f"{fault}.",)


def test_a_preview_has_the_parts_and_their_faults() -> None:
    shown = previews.preview(source(InAppPart(url="ftp://{{ name }}")), {"name": "x"})
    assert shown.rendered is not None
    assert shown.rendered.in_app.url == "ftp://x"
    assert shown.problems == ("url must be an https URL or a path such as /orders/1.",)


def test_an_in_app_text_has_no_html_and_ends_at_its_limit() -> None:
    long = TextSource(channel=Channel.IN_APP, locale="en", title="t", body="b" * 5_000, html="<b>")
    made = wording.compile_text(long).render({}, Reader())
    assert (len(made.body), made.html) == (4_000, "")
    assert previews.preview(long, {}).problems[0].startswith("The text is cut off")


def test_stored_content_of_a_request_is_read_with_its_parts() -> None:
    stored = {"title": "T", "body": "B", "url": "/x", "actions": [{"id": "a", "label": "A"}]}
    made = wording.raw({**stored, "of_a_newer_release": 1})
    assert (made.title, made.body, made.html) == ("T", "B", "")
    assert made.in_app == InAppPart("/x", "", (Action("a", "A"),))
