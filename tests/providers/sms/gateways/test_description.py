"""The first sentence about a wrong description, and which of two files counts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from providers import configuration
from providers.errors import ConfigurationError
from providers.sms import twilio, vonage
from providers.sms.gateways import description, vendors
from providers.vendor import Vendor

ROOT = Path(__file__).parents[4]
GOOD = """\
title = "Acme"
url = "https://sms.acme.example"

[settings.token]
help = "Token of the account."
secret = true

[request]
path = "/send"
bearer = "{token}"
json = { to = "{to}", text = "{text}", callback = "{callback_url}" }

[answer]
id = "id"
codes = { no_such_number = "dead" }

[receipts]
id = "id"
status = "status"
statuses = { DELIVRD = "delivered", UNDELIV = "rejected" }
"""


def write(folder: Path, text: str, *, name: str = "acme") -> Path:
    file = folder / f"{name}.toml"
    file.write_text(text)
    return file


def find(folder: Path) -> vendors.Gateways:
    builtin: list[Vendor[Any]] = [twilio.VENDOR, vonage.VENDOR]
    return vendors.find({vendors.FOLDER: str(folder)}, builtin=builtin, reserved=frozenset({"x"}))


def test_the_guide_has_an_example_and_names_each_key(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "start" / "sms-gateway.md").read_text()
    [example] = re.findall(r"^```toml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert description.load(write(tmp_path, example)).title == "Acme SMS"
    named = set(re.findall(r"`\[?([a-z]+\.[a-z_]+)", guide))
    parts: dict[str, type[BaseModel]] = {
        "request": description.RequestShape,
        "answer": description.AnswerShape,
        "check": description.Check,
        "receipts": description.Receipts,
    }
    keys = {
        f"{part}.{field.alias or name}"
        for part, model in parts.items()
        for name, field in model.model_fields.items()
    }
    assert keys - named == {"request.path"}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('title = "Acme"', "title = Acme", "is no valid TOML: Invalid value (at line 1, column 9)"),
        ('title = "Acme"\n', "", "title is missing: add the key"),
        ("[request]\npath", "[request]\npaht", "request.path is missing: add the key"),
        ('id = "id"\ncodes', 'ids = "id"\ncodes', "answer.ids is no key of a description: correct"),
        ('"dead"', '"deaf"', "answer.codes.no_such_number: write one of rejected, "),
        ('"delivered"', '"arrived"', "receipts.statuses.DELIVRD"),
        ("{token}", "{tokn}", "request: nothing fills {tokn}; add [settings.tokn], or write one"),
        ("settings.token", "settings.url", "settings.url: choose another name"),
        ("settings.token", "settings.url_", "settings.url_: choose another name"),
        ('title = "Acme"', "title = " + "[" * 3000, "is no valid TOML: maximum recursion depth"),
        ("json = {", "json = { n = 99999999999999999999,", "request.json: Integer exceeds 64-bit"),
        ("settings.token", "settings.text", "settings.text: choose another name"),
        ('text = "{text}"', 'text = "a"', "request: write {text}, and {to} or {to_digits}"),
        ("json = {", "other = {", "request.other is no key of a description: correct"),
        ("[answer]", 'form = { a = "b" }\n\n[answer]', "a POST has either form or json"),
        ('path = "/send"', 'path = "/send"\nmethod = "GET"', "a GET has neither"),
        ('"{callback_url}"', '"none"', "request: write {callback_url} where it belongs, or"),
        ("[receipts]", '[receipts]\nmethod = "PUT"', "receipts.method: input should be 'POST'"),
        ('"{to}"', '"{to}{encoding}"', "{encoding} and [request.encoding] belong together"),
        (
            "[receipts]",
            '[receipts]\nsignature = { header = "X-Sign", key = "token" }',
            'receipts: a signature is of the body: write url = "account"',
        ),
        (
            "[receipts]",
            '[receipts]\nurl = "account"\nsignature = { header = "X-Sign", key = "other" }',
            "receipts.signature.key: write the name of a setting",
        ),
        (
            '[receipts]\nid = "id"',
            '[receipts]\nurl = "account"',
            "receipts: write the path of id or of delivery_id",
        ),
        ('UNDELIV = "rejected"', "UNDELIV = []", "receipts.statuses.UNDELIV: write one of on_its"),
        ('path = "/send"', 'path = "@evil.example"', "request.path: write a path that begins"),
        ("https://sms", "ftp://sms", "url: write an http:// or https:// URL"),
        ("bearer", 'headers.X = "{text}"\nbearer', "request.headers: a text can have several"),
        ("bearer", 'headers.X = "\u00e9"\nbearer', "request.headers.X: write ASCII characters in"),
        ("{token}", "{to}", "request.bearer: {to} is no setting; add [settings.to]"),
        ("[answer]", '[check]\npath = "/{x}"\n[answer]', "check.path: {x} is no setting; add"),
        ("bearer", "ttl_seconds = [9, 5]\nbearer", "request.ttl_seconds: write the shortest,"),
        (
            'title = "Acme"',
            'title = "Acme"\nrepeat = "deduplicated"',
            "repeat: a deduplicated message carries {idempotency_key}",
        ),
    ],
)
def test_a_broken_description_is_named_with_its_key(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert GOOD.count(old) >= 1
    file = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as refused:
        description.load(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert sentence in str(refused.value)
    assert find(tmp_path).fault is not None


def test_a_key_that_may_be_missing_proves_no_callback(tmp_path: Path) -> None:
    signed = 'url = "account"\nsignature = { header = "X-Sign", key = "token" }'
    text = GOOD.replace("[receipts]", f"[receipts]\n{signed}")
    assert description.load(write(tmp_path, text)).receipts is not None
    file = write(tmp_path, text.replace("secret = true", 'secret = true\ndefault = ""'))
    with pytest.raises(ConfigurationError, match=r"signature\.key: remove the default"):
        description.load(file)


def test_receipts_are_needed_for_their_address(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD.partition("[receipts]")[0])
    with pytest.raises(ConfigurationError, match=r"{callback_url} needs a part \[receipts\]"):
        description.load(file)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("twilio", "the name 'twilio' is taken: choose another"),
        ("x", "the name 'x' is taken: choose another"),
        ("Acme", "the provider's name 'Acme' must have a lower-case letter"),
    ],
)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    file = write(tmp_path, GOOD, name=name)
    found = find(tmp_path)
    assert str(found.fault).startswith(f"{file}: {sentence}")
    assert found.own == ()


@pytest.mark.parametrize(
    ("name", "setting"), [("infobip_api", "key"), ("other", "eu_token"), ("infobip", "eu")]
)
def test_a_setting_has_one_owner_among_files(tmp_path: Path, name: str, setting: str) -> None:
    write(tmp_path, GOOD, name="other_eu")
    file = write(tmp_path, GOOD.replace("settings.token", f"settings.{setting}"), name=name)
    file.write_text(file.read_text().replace("{token}", f"{{{setting}}}"))
    taken = f"NOTIFY_{name}_{setting}".upper()
    is_shared = name != "infobip"  # the replaced file has no settings
    fault = find(tmp_path).fault
    assert (f"the setting {taken} belongs to another provider" in str(fault)) is is_shared


def test_a_folder_that_cannot_be_read_or_is_empty_is_named(tmp_path: Path) -> None:
    assert str(find(tmp_path).fault).startswith(
        "NOTIFY_SMS_GATEWAYS: the folder has no file *.toml"
    )
    missing = find(tmp_path / "missing").fault
    assert str(missing).startswith("NOTIFY_SMS_GATEWAYS: name a readable folder: ")


def test_a_file_of_the_company_adds_a_vendor_or_replaces_a_preset(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    write(tmp_path, GOOD, name="sinch")
    found = find(tmp_path)
    assert found.fault is None
    assert [each.name for each in found.own] == ["acme", "sinch"]
    by_name = {each.name: each for each in found.vendors}
    assert "NOTIFY_ACME_TOKEN" in by_name["acme"].settings
    assert "NOTIFY_SINCH_TOKEN" in by_name["sinch"].settings
    assert "NOTIFY_SINCH_API_TOKEN" not in by_name["sinch"].settings
    assert "sinch" not in found.status_pages
    assert len(by_name) == len(found.vendors)


def test_the_settings_of_a_description_are_checked_like_others(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    (vendor,) = find(tmp_path).own
    assert vendor.required_fields == ("token", "callback_secret")
    complete = {
        "NOTIFY_ACME_TOKEN": "hunter2",
        "NOTIFY_ACME_CALLBACK_SECRET": "hunter2-hunter2-hunter2",
        "NOTIFY_PUBLIC_URL": "https://notify.example",
    }
    config = configuration.load(vendor.config, vendor="acme", environ=complete)
    assert "hunter2" not in repr(config)
    for name, text in [
        ("NOTIFY_ACME_TOKEN", ""),
        ("NOTIFY_ACME_CALLBACK_SECRET", "hunter2"),
        ("NOTIFY_ACME_PER_SECOND", "hunter2"),
        ("NOTIFY_ACME_TOKEN", "hunter2\nX-Other: 1"),
        ("NOTIFY_ACME_CODES", "a=hunter2"),
        ("NOTIFY_ACME_URL", "hunter2"),
        ("NOTIFY_PUBLIC_URL", ""),
    ]:
        with pytest.raises(ConfigurationError) as refused:
            configuration.load(vendor.config, vendor="acme", environ=complete | {name: text})
        assert str(refused.value).startswith(f"{name}: ")
        assert "hunter2" not in str(refused.value)


def test_the_registry_has_the_vendors_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    code = (
        "from providers import registry\n"
        "print(sorted(registry.settings_of_packages()))\n"
        "registry.build_all({'NOTIFY_ACME_TOKEN': 'hunter2'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"NOTIFY_SMS_GATEWAYS": str(tmp_path), "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "'NOTIFY_ACME_CALLBACK_SECRET', 'NOTIFY_ACME_CODES'" in done.stdout
    assert "NOTIFY_PUBLIC_URL: is required once any NOTIFY_ACME_* is set" in done.stderr
    assert "hunter2" not in done.stderr.partition("ConfigurationError")[2]
