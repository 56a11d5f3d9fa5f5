"""The editor takes what the API takes, names faults by step and field, and loses no text."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings

from notifications.core.models import AuditEntry
from notifications.features.series import versions
from notifications.features.series.models import CustomEvent, Series, SeriesVersion
from notifications.features.series.rules import wording
from notifications.features.series.rules.states import SeriesState
from tests.features.series.admin.definitions import definitions
from tests.features.series.conftest import MakeSeries, enrol, make, send, sweep_once
from tests.journey import Reach, caller, reach

__all__ = ["caller", "make", "reach"]

ADD = reverse("admin:notifications_series_add")


def editor_of(series: Series) -> str:
    return reverse("admin:notifications_series_editor", args=[series.pk])


def publish_page(series: Series) -> str:
    return reverse("admin:notifications_series_publish", args=[series.pk])


def typed(client: Client, address: str) -> str:
    """The text in the box of the definition."""
    text = client.get(address).content.decode()
    found = re.search(r'<textarea name="definition"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    assert found
    return html.unescape(found[1])


def ask(client: Client, address: str, wish: str, definition: object, **more: str) -> dict[str, Any]:
    text = definition if isinstance(definition, str) else json.dumps(definition)
    body = {"do": wish, "definition": text, **more}
    answer = client.post(address, body, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def draft(series: Series) -> SeriesVersion:
    found = versions.draft_of(series)
    assert found is not None
    return found


@pytest.fixture
def series(make: MakeSeries) -> Series:
    return make(send("welcome"), {"step": "wait", "days": 1})


def test_a_new_series_is_stored_as_the_api_stores_it(door: Client, make: MakeSeries) -> None:
    other = make(send("x"), name="other")
    wanted = {"goal": {"event": "paid"}, "steps": [send("welcome"), {"step": "wait", "days": 2}]}
    fields = {"producer": other.producer.name, "mode": str(other.mode), "name": "tour"}
    answer = ask(door, ADD, "save", wanted, **fields)
    made = Series.objects.get(name="tour")
    assert answer == {"location": editor_of(made)}
    assert (made.producer, made.mode, made.state) == (other.producer, other.mode, "draft")
    assert draft(made).definition == wanted
    assert AuditEntry.objects.get(operation="create_series").by == "operator"
    again = ask(door, ADD, "save", wanted, **fields)
    assert "there is a series with the name tour" in again["errors"]["name"]
    missing = ask(door, ADD, "save", wanted, name="a b", mode=fields["mode"])
    assert set(missing["errors"]) == {"name", "producer"}
    assert Series.objects.count() == 2


def test_a_fault_names_the_step_and_the_field_and_keeps_the_text(
    door: Client, series: Series
) -> None:
    branch = {"step": "condition", "if": {"event": "x"}, "then": [{"step": "wait", "days": 400}]}
    content = {"steps": [send("welcome"), branch]}
    answer = ask(door, editor_of(series), "save", content)
    assert answer["faults"] == [
        ["/steps/1/then/0/days", "step 2 then 1, days", "a wait takes at most 366 days"]
    ]
    assert answer["told"] == ""
    assert versions.draft_of(series) is None
    body = {"do": "save", "definition": json.dumps(content)}
    page = door.post(editor_of(series), body).content.decode()
    assert "<li>Step 2 then 1, days: a wait takes at most 366 days</li>" in page
    assert html.escape(json.dumps(content)) in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "This is not JSON"),
        ('{"steps": NaN}', "This is not JSON"),
        ('{"steps": [{"step": "exit", "reason": "\\u0000"}]}', "NUL"),
        ('{"steps": [{"step": "exit", "reason": "\\ud800"}]}', "not JSON"),
        ("[]", "must be a JSON object"),
        ('{"steps": []}', "must not be empty"),
        ("", "This is not JSON"),
        ("[" * 5_000, "not JSON"),
        ("[" * 100 + "]" * 100, "nests more than"),
    ],
)
def test_any_text_is_answered_and_changes_nothing(
    door: Client, series: Series, text: str, said: str
) -> None:
    for wish in ("check", "save", "publish"):
        found = ask(door, editor_of(series), wish, text)
        assert said in found["faults"][0][2], found
    assert series.versions.count() == 1


def test_texts_of_a_definition_run_no_script(door: Client, series: Series) -> None:
    mark = "</script><i>late</i>"
    found = ask(door, editor_of(series), "save", {"steps": [{"step": "exit", "reason": mark}]})
    assert html.escape(mark) in found["picture"]
    body = {"do": "save", "definition": json.dumps({"steps": [send("x")], mark: 1})}
    for page in (door.get(editor_of(series)), door.post(editor_of(series), body)):
        assert mark not in page.content.decode()


def test_saving_makes_the_draft_of_the_next_version(door: Client, series: Series) -> None:
    wanted = {"steps": [{"step": "wait", "days": 3}, send("tips")]}
    answer = ask(door, editor_of(series), "save", wanted)
    assert answer["told"] == "The draft of onboarding is saved."
    assert draft(series).definition == wanted
    assert json.loads(typed(door, editor_of(series))) == wanted
    assert AuditEntry.objects.get(operation="change_series").by == "operator"
    assert "3" in answer["picture"]
    later = ask(door, editor_of(series), "save", {"steps": [send("z")]}, seen=answer["seen"])
    assert later["told"]
    assert series.versions.count() == 2


def test_a_draft_that_somebody_else_changed_is_not_replaced_unseen(
    door: Client, series: Series
) -> None:
    versions.save_draft(series, {"steps": [send("theirs")]})
    mine = {"steps": [send("mine")]}
    refused = ask(door, editor_of(series), "save", mine, seen="")
    assert "somebody else has changed the draft" in refused["faults"][0][2]
    assert draft(series).definition == {"steps": [send("theirs")]}
    checked = ask(door, editor_of(series), "check", mine, seen="")
    assert checked["seen"] == "", "a check does not count as a warning"
    assert ask(door, editor_of(series), "save", mine, seen=refused["seen"])["told"]
    assert draft(series).definition == mine


def test_a_draft_is_published_after_the_question(door: Client, series: Series) -> None:
    wanted = {"steps": [send("tips")]}
    answer = ask(door, editor_of(series), "publish", wanted)
    assert answer["location"].startswith(publish_page(series))
    assert "<form" in door.get(answer["location"]).content.decode()
    assert Series.objects.get().current == series.current, "a question publishes nothing"
    assert door.post(answer["location"]).status_code == 302
    series.refresh_from_db()
    assert series.current is not None
    assert (series.current.definition, series.current.published_by) == (wanted, "operator")
    assert AuditEntry.objects.filter(operation="publish_series", by="operator").exists()
    empty = door.post(f"{publish_page(series)}?seen=", follow=True).content.decode()
    assert "Not published. The series has no draft" in empty


def test_a_second_press_of_save_and_publish_changes_nothing(door: Client, series: Series) -> None:
    wanted = {"steps": [send("tips")]}
    for _ in range(2):
        assert ask(door, editor_of(series), "save", wanted, seen="")["told"]
    asked = ask(door, editor_of(series), "publish", wanted, seen="")["location"]
    for _ in range(2):
        page = door.post(asked, follow=True).content.decode()
        assert "onboarding is published." in page
        assert "Not published" not in page
    assert series.versions.count() == 2
    assert AuditEntry.objects.filter(operation="change_series").count() == 1
    assert AuditEntry.objects.filter(operation="publish_series").count() == 2


def test_a_draft_changed_after_the_question_is_not_published(door: Client, series: Series) -> None:
    asked = ask(door, editor_of(series), "publish", {"steps": [send("tips")]})["location"]
    versions.save_draft(series, {"steps": [send("theirs")]})
    assert "Somebody else has changed" in door.post(asked, follow=True).content.decode()
    assert Series.objects.get().current == series.current


def test_objections_allow_a_save_and_prevent_the_publication(door: Client, series: Series) -> None:
    wanted = {"steps": [send("tips", template_id="none", type="NONE")]}
    answer = ask(door, editor_of(series), "publish", wanted)
    assert answer["told"] == "The draft of onboarding is saved."
    assert {each[0] for each in answer["objections"]} == {
        "/steps/0/template_id",
        "/steps/0/type",
    }
    forced = door.post(publish_page(series) + f"?seen={answer['seen']}", follow=True)
    assert "Not published. Step 1, template_id: no published template" in forced.content.decode()
    assert Series.objects.get().current == series.current


def test_the_page_offers_events_templates_and_types(door: Client, series: Series) -> None:
    CustomEvent.objects.all().delete()
    make_events = {"steps": [send("a")], "trigger": {"event": "signed_up"}}
    versions.save_draft(series, make_events)
    published = versions.publish(
        versions.caller_of(series.producer, series.mode), series, by="tests"
    )
    assert isinstance(published, Series)
    text = door.get(editor_of(series)).content.decode()
    for name in ("signed_up", "hello", "LIKE"):
        assert f'<option value="{name}"' in text


def test_the_editor_shows_the_published_picture_with_people(
    door: Client, series: Series, reach: Reach
) -> None:
    reach("ana", email="ana@sandbox.example")
    reach("eva", email="eva@sandbox.example")
    enrol(series, "ana", "eva")
    sweep_once()
    text = " ".join(door.get(editor_of(series)).content.decode().split())
    shown = text.partition('id="series-published"')[2]
    assert (
        'Wait 1 day.</p> <ul class="nc-series-counts"><li class="nc-series-here"><b>2</b> here'
        in shown
    )


def test_the_rights_of_the_editor(window: Client, viewer: User, series: Series) -> None:
    for address in (editor_of(series), publish_page(series), ADD):
        assert window.get(address).status_code == 403
        assert window.post(address, {"do": "save"}).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="change_series"))
    assert window.get(editor_of(series)).status_code == 200
    assert window.get(ADD).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="add_series"))
    assert window.get(ADD).status_code == 200


def test_an_archived_series_has_no_editor(door: Client, series: Series) -> None:
    versions.change_state(series, SeriesState.ARCHIVED, by="tests")
    page = door.get(editor_of(series), follow=True).content.decode()
    assert "has no new versions" in page
    assert "Edit the steps" not in page
    posted = ask_anyway(door, editor_of(series))
    assert posted == 302
    assert series.versions.count() == 1


def ask_anyway(client: Client, address: str) -> int:
    body = {"do": "save", "definition": json.dumps({"steps": [send("x")]})}
    return client.post(address, body).status_code


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=definitions())
def test_a_definition_of_the_api_is_saved_unchanged(
    door: Client, series: Series, content: dict[str, Any]
) -> None:
    versions.save_draft(series, content)
    stored = draft(series).definition
    answer = ask(
        door,
        editor_of(series),
        "save",
        typed(door, editor_of(series)),
        seen=versions.mark_of(series),
    )
    assert answer["told"], answer
    assert draft(series).definition == stored == content


def test_a_pointer_is_a_place_in_words() -> None:
    assert wording.place("/steps/2/then/0/if/and/1/event") == "step 3 then 1, if and 1 event"
    assert wording.place("/goal/event") == "goal event"
    assert wording.place("") == ""
    assert wording.place("/steps") == "steps"
