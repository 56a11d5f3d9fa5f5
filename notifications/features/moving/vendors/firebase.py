"""Firebase: users of Authentication, and tokens of FCM that an app keeps by user.

    users.json         `firebase auth:export users.json`: {"users": [{"localId", "email", ...}]}
    tokens.csv         columns user_id and token, perhaps platform: android, ios or web
    tokens.json        a list of such objects, or {"u_1": ["token"], "u_2": {"token": true}}

FCM has no list of tokens, so the files come from the database of the app. An FCM token of any
platform is sent to by FCM: https://firebase.google.com/docs/cli/auth
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from notifications.features.moving import files
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    NotUnderstood,
    WrongExport,
)
from notifications.features.moving.files import CsvLine
from notifications.features.moving.people import ExportedPerson
from providers.contract import Channel

_PLATFORMS: Final = frozenset({"", "android", "ios", "web"})
_KIND: Final = "fcm_token"
_NAMES: Final = ("displayName", "photoUrl", "customAttributes")


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the recipients."""
    for file in given:
        if file.is_csv:
            for line in files.read_csv(file, required=("user_id", "token"), known=("platform",)):
                yield from [line] if isinstance(line, NotUnderstood) else _line(line)
        else:
            yield from _document(file)


def _document(file: ExportFile) -> Iterator[Found]:
    document = files.read_json(file)
    if isinstance(document, list):
        for place, entry in _objects(file.place, document):
            yield from [entry] if isinstance(entry, NotUnderstood) else _pair(place, entry)
    elif isinstance(document, dict) and isinstance(document.get("users"), list):
        for place, user in _objects(file.place.below("users"), document["users"]):
            yield from [user] if isinstance(user, NotUnderstood) else _user(place, user)
    elif isinstance(document, dict) and all(isinstance(v, list | dict) for v in document.values()):
        for user_id, tokens in document.items():
            place = file.place.below(user_id)
            found = [(place.below(name), each) for name, each in _each(tokens)]
            yield from _tokens(place, user_id, found)
    else:
        raise WrongExport(
            f"{file.name}: neither users of auth:export nor tokens by user; see docs/moving.md"
        )


def _pair(place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    """Yield the recipient of an object with a token.

    Raises:
        WrongExport: the object is of another vendor.
    """
    if "user_id" not in entry or "token" not in entry:
        raise WrongExport(f"{place}: an object needs user_id and token")
    yield from _tokens(place, str(entry["user_id"]), [(place.below("token"), entry["token"])])


def _objects(
    place: ExportPlace, entries: Sequence[object]
) -> Iterator[tuple[ExportPlace, Mapping[str, Any] | NotUnderstood]]:
    for number, entry in enumerate(entries):
        below = place.below(number)
        is_object = isinstance(entry, dict)
        yield below, entry if is_object else NotUnderstood(below, "must be a JSON object")  # type: ignore[misc]  # a dict of JSON


def _each(tokens: Sequence[object] | Mapping[str, object]) -> Iterator[tuple[str | int, object]]:
    """Yield the tokens of a list, or the keys of an object with the value true."""
    if isinstance(tokens, Mapping):
        yield from ((name, name) for name, is_valid in tokens.items() if is_valid)
    else:
        yield from enumerate(tokens)


def _user(place: ExportPlace, user: Mapping[str, Any]) -> Iterator[Found]:
    user_id = user.get("localId")
    if not isinstance(user_id, str) or not user_id:
        yield NotUnderstood(place, "has no localId")
        return
    person = ExportedPerson(place, user_id)
    person.add(Channel.EMAIL, user.get("email"), "email")
    person.add(Channel.SMS, user.get("phoneNumber"), "phoneNumber")
    person.leave_out(*(name for name in _NAMES if user.get(name)))
    yield from person.parts()


def _line(line: CsvLine) -> Iterator[Found]:
    if line.get("platform").lower() not in _PLATFORMS:
        yield NotUnderstood(line.place.below("platform"), "must be android, ios or web")
        return
    yield from _tokens(line.place, line.get("user_id"), [(line.place, line.get("token"))])


def _tokens(
    place: ExportPlace, user_id: str, tokens: Sequence[tuple[ExportPlace, object]]
) -> Iterator[Found]:
    if not user_id:
        yield NotUnderstood(place, "has no user id")
        return
    person = ExportedPerson(place, user_id)
    for where, token in tokens:
        if isinstance(token, str) and token:
            person.add(Channel.PUSH, token, "token", kind=_KIND)
        else:
            yield NotUnderstood(where, "must be a token")
    yield from person.parts()
