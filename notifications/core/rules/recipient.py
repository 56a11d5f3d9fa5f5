"""Recipients named by addresses in a request, without a user id.

Equal addresses, compared by `rules.addresses.key`, mean the same recipient: each set of addresses
has one generated user id. The id is a keyed hash, so that paths and logs with the id do not reveal
the address.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from notifications.core.rules import addresses, request_faults
from notifications.core.rules.language import locales
from notifications.core.rules.suppression import LONGEST_ADDRESS
from notifications.core.rules.times import local_time
from providers.contract import Channel

PREFIX: Final = "to_"
"""Beginning of the user ids that the service creates."""
_MADE: Final = re.compile(rf"{PREFIX}[0-9a-f]{{32}}")
_JOINED: Final = r"[\u0590-\u1cff\u2190-\u2bff\U0001f000-\U0001faff]"
"""Characters between which a joiner changes the look: those of Asian scripts, and emoji."""
_UNSEEN: Final = re.compile(
    rf"[{''.join(sorted(addresses.BLANKS))}\u180b-\u180f\U000e0100-\U000e01ef]"
    rf"|[\u200c\u200d](?!(?<={_JOINED}.){_JOINED})"
)
"""Characters that Unicode counts as printable and nobody sees: blanks, selectors, idle joiners."""


def is_made_of_address(user_id: str) -> bool:
    """Return True for a user id that the service made of the address in `to`."""
    return _MADE.fullmatch(user_id) is not None


def fault_of_new_id(user_id: str) -> str:
    """Return why a new recipient cannot have the user id; "" if the recipient can.

    Of two ids that look alike, one alone would have the opt-outs of the person. A URL cannot end
    with a segment of dots.
    """
    if user_id != user_id.strip():
        return "the user id of a new recipient must not begin or end with space"
    if user_id in {".", ".."}:
        return "the user id of a new recipient must not be . or .., which a URL cannot hold"
    if not unicodedata.is_normalized("NFC", user_id):
        return "the user id of a new recipient must be in the Unicode form NFC"
    try:
        addresses.check_visible(user_id)
    except ValueError as error:
        return f"the user id of a new recipient {error}"
    if unseen := _UNSEEN.search(user_id):
        return f"the user id of a new recipient {addresses.must_be_free_of(unseen[0])}"
    return ""


def _zone(name: str) -> str:
    if name and not local_time.is_zone(name):
        meant = request_faults.did_you_mean(name, local_time.names_beside(name))
        msg = f"unknown IANA timezone; use a name such as America/Sao_Paulo{meant}"
        raise ValueError(msg)
    return name


def _normal_locale(tag: object) -> object:
    """Spell a tag of a phone or browser (`en-US-u-hc-h12`) in the form that the pattern takes."""
    return locales.normalize(tag) if isinstance(tag, str) else tag


def _locale(tag: str) -> str:
    if not locales.is_known(tag):
        msg = "unknown locale; use a CLDR locale such as pt-BR"
        raise ValueError(msg)
    return tag


Locale = Annotated[
    str,
    StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}([_\-][A-Za-z0-9]{2,8})*$"),
    BeforeValidator(_normal_locale),  # runs before the constraints, and leaves them in the schema
    AfterValidator(_locale),
]
Mailbox = Annotated[
    str,
    Field(max_length=LONGEST_ADDRESS),
    AfterValidator(partial(addresses.normal_form, Channel.EMAIL)),
]
Number = Annotated[
    str, Field(max_length=64), AfterValidator(partial(addresses.normal_form, Channel.SMS))
]
Zone = Annotated[str, Field(max_length=64), AfterValidator(_zone)]


class To(BaseModel):
    """A recipient by address: an existing recipient with the addresses, else a new recipient."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    email: Mailbox | None = None
    """A mailbox; its domain is stored in ASCII and in lower case."""
    phone: Number | None = None
    """A phone number with its country code, for SMS; stored as E.164."""
    locale: Locale | None = None
    """Of a recipient who is registered now; one who is known keeps theirs."""
    timezone: Zone | None = None
    """The same for the timezone."""

    @model_validator(mode="after")
    def _check_that_it_reaches(self) -> Self:
        if not self.addresses:
            raise request_faults.error_at("give email or phone", "email")
        return self

    @property
    def addresses(self) -> Mapping[Channel, str]:
        """The addresses by channel."""
        given = {Channel.SMS: self.phone, Channel.EMAIL: self.email}
        return {channel: address for channel, address in given.items() if address is not None}

    @property
    def keys(self) -> frozenset[tuple[int, str]]:
        """Channel and key of each address, equal for equal addresses."""
        return frozenset(
            (int(channel), addresses.key(channel, address))
            for channel, address in self.addresses.items()
        )

    def user_id(self, *, key: bytes) -> str:
        """Return the generated user id of the addresses, the same for each spelling.

        Args:
            key: keys the hash; the same in every process.
        """
        hashed = hashlib.blake2b(key=key, digest_size=16, person=b"to")
        for channel, address in sorted(self.addresses.items()):
            hashed.update(f"{channel.value}:{addresses.key(channel, address)}\n".encode())
        return f"{PREFIX}{hashed.hexdigest()}"
