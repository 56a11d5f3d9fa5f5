"""Whatever is typed wrong is answered with a sentence, never with a traceback."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.core.models import Producer, Template

pytestmark = pytest.mark.django_db
NO_UTF_8 = "\udcff"
"""How a byte that is none stands on a command line."""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            ["replay_dead", "--channel", "pigeon"],
            "unknown channel 'pigeon'; use one of push, sms, email",
        ),
        (["replay_dead", "--mode", "dead"], "choose from"),
        (
            ["replay_dead", "--newer-than", "soon"],
            "'soon' is not a number above 0 and up to 876000",
        ),
        (["replay_dead", "--older-than", "nan"], "'nan' is not a number above 0"),
        (["replay_dead", "--older-than", "1e300"], "'1e300' is not a number above 0"),
        (["replay_dead", "--older-than=-1"], "'-1' is not a number above 0"),
        (["replay_dead", "seven"], "'seven' is not a valid id"),
        (["replay_dead", "9" * 5_000], "is not a valid id"),
        (["replay_dead", "\u00b2"], "is not a valid id"),
        (["replay_dead", "--reason", NO_UTF_8], "not valid UTF-8"),
        (["replay_dead", "--producer", "nobody"], "(?i)unknown producer 'nobody'"),
        (["create_key", "nobody"], "(?i)unknown producer 'nobody'"),
        (["create_key", "", "--new"], "must have 1 to 64 characters, has 0"),
        (["create_key", "x" * 65, "--new"], "must have 1 to 64 characters, has 65"),
        (["create_key", "shop", "--days", "0"], "'0' is not a number above 0"),
        (["create_key", "shop", "--days", "1e9"], "up to 36500"),
        (["create_key", "shop", "--note", "x" * 201], "0 to 200 characters"),
        (["create_key", "shop", "--scopes", "everything"], "choose from"),
        (["create_key", "shop", "--mode", "prod"], "choose from"),
        (["find_message", NO_UTF_8], "not valid UTF-8"),
        (["find_message", "\U0001f4a9"], "Nothing found"),
        (
            ["send_one", "sandbox", "pigeon", "x", "--body", "x"],
            "unknown channel 'pigeon'; use one of push",
        ),
        (["send_one", "nobody", "sms", "x", "--body", "x"], "nobody is not configured"),
        (["send_one", "sandbox", "sms", "x", "--body", NO_UTF_8], "not valid UTF-8"),
        (["import_templates", "--dir", "/nowhere"], "cannot be read"),
        (["import_templates", "--dir", __file__], "cannot be read"),
        (["export_templates", "--dir", f"{__file__}/below"], "cannot be written"),
        (["load_demo", "--admin-password", ""], "Give --admin-password"),
    ],
)
def test_a_wrong_word_is_told_what_is_right(line: list[str], told: str) -> None:
    Producer.objects.create(name="shop")
    Template.objects.create(template_id="hello")
    with pytest.raises(CommandError, match=told):
        call_command(*line, stdout=io.StringIO())


@pytest.mark.parametrize("held", ["[", "[]", '{"shop": 5}'])
def test_a_keys_file_that_holds_something_else_is_left_alone(tmp_path: Path, held: str) -> None:
    keys_file = tmp_path / "keys.json"
    keys_file.write_text(held)
    line = ["load_demo", "--admin-password", "x", "--keys-file", str(keys_file)]
    with pytest.raises(CommandError, match="is not a JSON object of producer"):
        call_command(*line, stdout=io.StringIO())
    assert keys_file.read_text() == held
    assert not Template.objects.exists(), "the file is looked at before anything is loaded"
