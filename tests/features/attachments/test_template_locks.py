"""Two writers of templates with the same files wait for each other, and neither is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import pytest
from django.db import connection, transaction

from notifications.core.models import Template
from notifications.core.rules import attachments
from notifications.core.rules.templates import contents, file_format
from notifications.core.rules.templates.contents import TemplateContent
from notifications.core.store.templates import files, import_export, versions
from notifications.features.attachments.models import Attachment
from notifications.features.template_studio import translations
from notifications.features.template_studio.rules import units
from notifications.features.template_studio.rules.units import TranslatedFile
from notifyproj.devstack.demo.environment import until
from providers.contract import Channel
from tests import interleaving
from tests.api.conftest import Caller, _fresh_state, caller, make_caller

__all__ = ["_fresh_state", "caller", "make_caller"]
Answer = TypeVar("Answer")
pytestmark = pytest.mark.django_db(transaction=True)


def _version(name: str, *words: str) -> Template:
    """Draft a template with a file of each text."""
    content = contents.content([contents.words(Channel.EMAIL, "en", title="Order", body="Terms")])
    made = versions.draft(name, content, by="ana")
    for each in words:
        stored = files.store("text/plain", each.encode())
        add = partial(files.with_file, file=stored, name=f"{each}.txt", inline_id=None)
        versions.edit_files(made, add, by="ana")
    made.refresh_from_db()
    return made


def _beside(
    work: Callable[[], Answer], *, held: Callable[[], object], then: Callable[[], object]
) -> Answer:
    """Return the result of `work`, which waits for the locks of `held` until `then` is done."""

    def closing() -> Answer:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            held()
            begun = threads.submit(closing)
            until(interleaving.is_awaited, what="the other writer waits")
            then()
        return begun.result()


def test_a_draft_waits_for_the_template_before_the_files(caller: Caller) -> None:
    made = _version("order", "terms")
    file = str(Attachment.objects.get().pk)
    text = {"channel": "email", "title": "Order", "body": "Terms"}
    body = {"template_id": "order", "texts": [text]}
    answer = _beside(
        lambda: caller.post(
            "/v1/templates", body | {"attachments": [{"id": file, "name": "terms.txt"}]}
        ),
        held=lambda: versions.lock("order"),
        then=lambda: versions.publish(made, by="ben"),
    )
    assert answer.status_code == 201, answer.content
    assert [each["id"] for each in answer.json()["attachments"]] == [file]


def _import(names: Collection[str]) -> object:
    told = {
        name: {**file_format.write(_content(name)), "push.en.txt": "Order\n\nTerms"}
        for name in names
    }
    return import_export.load_all(told, by="files", publish=False)


def _translate(names: Collection[str]) -> object:
    found = [
        TranslatedFile(
            template_id=name,
            source="en",
            target="de",
            targets={
                each.id: (each.source,)
                for each in units.units_of(_content(name).texts, source="en", target="de")
            },
        )
        for name in names
    ]
    return translations.load(found, by="files")


def _content(name: str) -> TemplateContent:
    return versions.content_of(Template.objects.get(template_id=name))


@pytest.mark.usefixtures("caller")  # whose settings come first
@pytest.mark.parametrize("load", [_import, _translate])
def test_an_import_locks_the_files_of_all_templates_in_one_order(
    load: Callable[[Collection[str]], object],
) -> None:
    both = _version("both", "a", "b").attachments
    low, high = sorted(attachments.of_template(both), key=lambda each: each.id)
    for name, file in (("early", high), ("late", low)):
        _version(name, file.name[0])
    _beside(
        lambda: load(["early", "late"]),
        held=lambda: files.keep([each for each in both if each["name"] == low.name]),
        then=lambda: files.keep(both),
    )
    drafts = Template.objects.filter(template_id__in=["early", "late"], version=2)
    assert sorted(each.attachments[0]["name"] for each in drafts) == ["a.txt", "b.txt"]
