"""The keys of a description of a gateway, and the sentence about a wrong description.

docs/start/sms-gateway.md explains the keys with an example. A description is checked as a whole at
start: a place that no setting fills, a key that no part knows and a word that is no verdict are
errors with the file, the key and the remedy.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from providers import configuration
from providers.errors import ConfigurationError
from providers.sms.gateways import places
from providers.verdicts import Verdict

OWN_FIELDS: Final = frozenset({"url", "per_second", "codes", "public_url", "callback_secret"})
"""Settings that the adapter itself adds."""

_SETTING: Final = re.compile(r"[a-z](?:[a-z0-9_]{0,30}[a-z0-9])?")

Template = Annotated[str, Field(min_length=1)]
Scalar = str | int | float | bool
_NEWS: Final = ("on_its_way", "delivered", "read")


def _path(text: str) -> str:
    if not text.startswith("/") or not text.isascii() or not text.isprintable():
        raise ValueError("write a path that begins with / and has ASCII characters")
    return text


def _url(text: str) -> str:
    return configuration.http_url(text) if text else text


def _word(text: object) -> object:
    if text not in list(Verdict):
        raise ValueError("write one of " + ", ".join(Verdict))
    return text


def _meaning(text: object) -> object:
    if text not in [*_NEWS, *Verdict]:
        raise ValueError("write one of " + ", ".join((*_NEWS, *Verdict)))
    return text


def _paths(one_or_several: object) -> object:
    return (one_or_several,) if isinstance(one_or_several, str) else one_or_several


Path_ = Annotated[Template, AfterValidator(_path)]
Word = Annotated[Verdict, BeforeValidator(_word)]
Meaning = Annotated[Literal["on_its_way", "delivered", "read"] | Verdict, BeforeValidator(_meaning)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Setting(_Table):
    """A setting `NOTIFY_<NAME>_<SETTING>`."""

    help: Template
    """A sentence for the table of settings."""
    secret: bool = False
    default: str | None = None
    """None: the setting is required. Empty: the setting may be left out."""


class Encoding(_Table):
    """Values of the place `{encoding}`, by the characters of the text."""

    gsm7: Scalar
    """For a text of the 7-bit alphabet."""
    unicode: Scalar


class RequestShape(_Table):
    """The request with one message."""

    method: Literal["POST", "GET"] = "POST"
    path: Path_
    basic: tuple[Template, str] | None = None
    """User and password of HTTP Basic."""
    bearer: str = ""
    """Token of `Authorization: Bearer`."""
    headers: dict[str, Template] = {}
    query: dict[str, Scalar] = {}
    form: dict[str, Scalar] = {}
    json_: dict[str, object] | list[object] | None = Field(default=None, alias="json")
    encoding: Encoding | None = None
    ttl_seconds: tuple[int, int] = (1, 172_800)
    """Bounds of the time to live that the gateway takes."""
    max_characters: int = Field(default=1600, gt=0)

    @property
    def places(self) -> set[str]:
        """The names of all places."""
        trees = (self.path, self.basic, self.bearer, self.headers, self.query, self.form)
        return {name for tree in (*trees, self.json_) for name in places.names(tree)}

    @property
    def places_of_headers(self) -> set[str]:
        """The names of the places in headers, but for HTTP Basic, which encodes its texts."""
        return {name for tree in (self.bearer, self.headers) for name in places.names(tree)}


class AnswerShape(_Table):
    """The meaning of the answer to a request."""

    taken: dict[str, list[Scalar]] = {}
    """Path -> values: each path must have one of its values for an accepted message. Empty: a
    2xx with an id is accepted, or each 2xx without a path of `id`."""
    id: str = ""
    """Path of the gateway's id of the message."""
    segments: str = ""
    """Path of the number of segments."""
    code: list[str] = []
    """Paths of an error's code: the first path that leads to a value counts."""
    codes: dict[str, Word] = {}
    """Code -> verdict; `http-402` is the HTTP status 402, for an answer without a known code."""


class Check(_Table):
    """A page of the account, read by GET with the request's authentication."""

    path: Path_
    balance: str = ""
    """Path of the balance."""
    currency: str = ""
    """Path of the currency."""


class Signature(_Table):
    """An HMAC of the callback's body in a header."""

    header: Template
    key: Template
    """The setting that holds the key."""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: str = ""
    """Text before the signature in the header: `sha256=`."""


class Receipts(_Table):
    """The gateway's callbacks about messages."""

    url: Literal["message", "account"] = "message"
    """`message`: each message has an address of its own, which names the delivery.
    `account`: one address for all messages; an entry names the message."""
    method: Literal["POST", "GET"] = "POST"
    """`GET`: the query of the address is the one entry."""
    signature: Signature | None = None
    """None: the address contains the proof, made with `NOTIFY_<NAME>_CALLBACK_SECRET`."""
    each: str = ""
    """Path of the list of entries. Empty: the callback is one entry, or a list of entries."""
    id: str = ""
    delivery_id: str = ""
    """Path of the delivery id that the request carried."""
    status: Annotated[tuple[Template, ...], BeforeValidator(_paths), Field(min_length=1)]
    """Paths of the status: the first path that leads to a listed status counts."""
    statuses: dict[str, Meaning]
    """Status -> meaning. A status that is not listed changes nothing."""
    code: str = ""
    codes: dict[str, Word] = {}
    """Code of a failed message -> verdict; it counts before the verdict of the status."""
    segments: str = ""
    price: str = ""
    """Path of the price of the message."""
    currency: str = ""
    """Path of the price's currency: only US dollars count."""

    @model_validator(mode="after")
    def _fits_together(self) -> Receipts:
        if self.signature is not None and self.method == "GET":
            raise ValueError("receipts: a signature is of the body, and a GET has none")
        if self.signature is not None and self.url == "message":
            raise ValueError('receipts: a signature is of the body: write url = "account"')
        if self.url == "account" and not (self.id or self.delivery_id):
            raise ValueError("receipts: write the path of id or of delivery_id")
        return self


class Description(_Table):
    """A gateway."""

    title: Template
    """The vendor's name for people."""
    url: Annotated[str, AfterValidator(_url)] = ""
    """Base URL. Empty: `NOTIFY_<NAME>_URL` is required."""
    status_page: str = ""
    per_second: int = Field(default=10, gt=0)
    repeat: Literal["visible", "deduplicated"] = "visible"
    """`deduplicated`: the gateway documents that it sends a repeated `{idempotency_key}` once."""
    settings: dict[str, Setting] = {}
    request: RequestShape
    answer: AnswerShape = AnswerShape()
    check: Check | None = None
    receipts: Receipts | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Description:
        self._check_settings()
        self._check_request()
        self._check_headers()
        self._check_receipts()
        return self

    def _check_settings(self) -> None:
        for name in self.settings:
            if not _SETTING.fullmatch(name) or name in OWN_FIELDS | places.OF_MESSAGES:
                raise ValueError(
                    f"settings.{name}: choose another name, of lower-case letters, digits and"
                    " underscores, not at the end; these are taken: "
                    + ", ".join(sorted(OWN_FIELDS | places.OF_MESSAGES))
                )

    def _check_request(self) -> None:
        request, known = self.request, places.OF_MESSAGES | self.settings.keys()
        for name in sorted(request.places - known):
            raise ValueError(
                f"request: nothing fills {{{name}}}; add [settings.{name}], or write one of "
                + ", ".join(sorted(known))
            )
        shortest, longest = request.ttl_seconds
        if not 1 <= shortest <= longest:
            raise ValueError("request.ttl_seconds: write the shortest, then the longest time")
        if sum(map(bool, (request.form, request.json_))) != (request.method == "POST"):
            raise ValueError("request: a POST has either form or json, and a GET has neither")
        if not {"to", "to_digits"} & request.places or "text" not in request.places:
            raise ValueError("request: write {text}, and {to} or {to_digits}, where they belong")
        try:
            orjson.dumps(request.json_)
        except TypeError as error:
            raise ValueError(f"request.json: {error}") from None
        if ("encoding" in request.places) != (request.encoding is not None):
            raise ValueError("request: {encoding} and [request.encoding] belong together")
        if self.repeat == "deduplicated" and not (
            {"idempotency_key", "delivery_id"} & request.places
        ):
            raise ValueError("repeat: a deduplicated message carries {idempotency_key}")

    def _check_headers(self) -> None:
        request, settings = self.request, self.settings.keys()
        if "text" in request.places_of_headers:
            raise ValueError("request.headers: a text can have several lines: remove {text}")
        for key, text in request.headers.items():
            if not f"{key}{text}".isascii() or not f"{key}{text}".isprintable():
                raise ValueError(f"request.headers.{key}: write ASCII characters in one line")
        shared = {"request.basic": request.basic, "request.bearer": request.bearer}
        for key, tree in {**shared, "check.path": self.check and self.check.path}.items():
            for name in sorted(set(places.names(tree)) - settings):
                raise ValueError(f"{key}: {{{name}}} is no setting; add [settings.{name}]")

    def _check_receipts(self) -> None:
        receipts, places_ = self.receipts, self.request.places
        if receipts is None:
            if "callback_url" in places_:
                raise ValueError("request: {callback_url} needs a part [receipts]")
            return
        if receipts.signature is not None and receipts.signature.key not in self.settings:
            raise ValueError("receipts.signature.key: write the name of a setting")
        if receipts.signature is not None and (
            self.settings[receipts.signature.key].default is not None
        ):
            raise ValueError("receipts.signature.key: remove the default of this setting")
        if receipts.url == "message" and "callback_url" not in places_:
            raise ValueError(
                "request: write {callback_url} where it belongs, or receipts.url ="
                ' "account" if the address is entered at the vendor'
            )


def load(file: Path) -> Description:
    """Read a description.

    Raises:
        ConfigurationError: the file is no TOML, or is no description; the message names the file,
            the line or key and the remedy.
    """
    try:
        parsed = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(str(file), f"cannot be read: {error}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(str(file), f"is no valid TOML: {error}") from error
    try:
        return Description.model_validate(parsed)
    except ValidationError as error:
        raise ConfigurationError(str(file), _sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """Return the first error of a description: the key, and what it must be."""
    first = error.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    match first["type"]:
        case "missing":
            return f"{key} is missing: add the key"
        case "extra_forbidden":
            return f"{key} is no key of a description: correct or remove the key"
        case "value_error":
            said = str(first["ctx"]["error"])
            is_of_a_value = key not in {"", "receipts", "request"}
            return f"{key}: {said}" if is_of_a_value else said
        case _:
            return f"{key}: {first['msg'][0].lower()}{first['msg'][1:]}"
