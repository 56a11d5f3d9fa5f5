"""The sandbox's behaviour, chosen by words in the address.

| word | effect |
| --- | --- |
| (none) | 202, and a `delivered` receipt at once |
| `400` `401` `410` `421` `429` `500` `503` | that answer, on every call |
| `503x2` | that answer on the first 2 calls of a delivery, then 202 |
| `after-3s` | Retry-After: 3 with a 429 (2 s without it) or a 5xx (none without it) |
| `slow-800ms` `slow-2s` | accepted at once, answered after the time |
| `crash` `crashx1` | accepted, then the connection is closed without an answer |
| `hang` `hangx1` | accepted, then never answered |
| `stall` `stallx1` | not accepted and never answered |
| `nodedup` | a repeat with the same idempotency key is shown again |
| `receipt-early` | the receipt arrives before the answer |
| `receipt-late-5s` | the receipt arrives the time after the answer |
| `receipt-never` | no receipt |
| `receipt-read` | `delivered`, then `read` |
| `receipt-bounced` | `bounced` instead of `delivered` |
| `receipt-twice` | the same receipt twice |

Words may be anywhere in an address, between characters that are neither letter, digit nor `-`:
`maria+503x2+receipt-never@sandbox.example`, `token.429x1.after-3s`,
`https://hooks.example/crashx1`.

A phone number has no room for words: `+1 555 SSS T R NN` says the same in digits.

| part | digits |
| --- | --- |
| SSS | `400` ... `503` as above; `600` crash, `601` hang, `602` stall, `603` slow-2s; other: 202 |
| T | number of first calls; 0: every call |
| R | receipt: 0 at once, 1 early, 2 late-5s, 3 never, 4 read, 5 bounced, 6 twice |
| NN | any: to distinguish recipients |

`+15555032000` is 503 twice, then 202. `+1-555-0000` is a malformed number: always 400.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from typing import Final

REFUSALS: Final = {
    400: "invalid_address",
    401: "bad_credentials",
    410: "no_such_address",  # the address is dead
    421: "no_route",  # another provider may accept it
    429: "too_many_requests",
    500: "internal_error",
    503: "unavailable",
}
"""Status and the `code` in its body."""

STEERING_WORDS: Final = (
    ("maria+400", "400 at every call; so do 401, 410, 421, 429, 500, 503"),
    ("maria+503x2", "503 at the first two calls, then accepted"),
    ("maria+429+after-3s", "429 with Retry-After: 3"),
    ("maria+slow-2s", "accepted, answered 2 s later; also slow-800ms"),
    ("maria+crash", "accepted, then the connection is closed without an answer; also crashx1"),
    ("maria+hang", "accepted, never answered; also hangx1"),
    ("maria+stall", "not accepted, never answered; also stallx1"),
    ("maria+nodedup", "a repeat with the same idempotency key is shown again"),
    (
        "maria+receipt-never",
        "no receipt; also -early, -late-5s, -read, -bounced, -twice",
    ),
)
"""Beginnings of addresses and their effects; the page shows the list."""
STEERING_DIGITS: Final = (
    ("+15555032000", "503 at the first two calls, then accepted"),
    ("+15554000000", "400; the three digits after 555 are the status"),
    ("+15556000000", "crash; 601 hang, 602 stall, 603 slow-2s"),
    (
        "+15552020300",
        "no receipt; the ninth digit is the receipt: 1 early, 2 late, 4 read, 5 bounced, 6 twice",
    ),
    ("+15550000", "no number: always 400"),
)
"""The same for phone numbers, which have no room for words."""

NO_NUMBER: Final = "15550000"
DEFAULT_RETRY_AFTER_SECONDS: Final = 2


class Ending(Enum):
    """The end of a call that is not refused."""

    ANSWER = auto()
    CRASH = auto()
    """Accepted, connection closed."""
    HANG = auto()
    """Accepted, no answer."""
    STALL = auto()
    """Not accepted, no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """The behaviour for a call."""

    refusal: int | None = None
    ending: Ending = Ending.ANSWER
    times: int | None = None
    """Refusal and ending apply to so many first calls of a delivery; None: to all calls."""
    retry_after_seconds: int | None = None
    delay_seconds: float = 0.0
    dedup: bool = True
    receipts: tuple[str, ...] = ("delivered",)
    receipt_delay_seconds: float = 0.0
    receipt_early: bool = False

    def at_call(self, number: int) -> Steering:
        """Return the behaviour of the n-th call (from 1) of a delivery."""
        if self.times is None or number <= self.times:
            return self
        return replace(self, refusal=None, ending=Ending.ANSWER)


_NUMBER_STATUS: Final = {
    **{str(status): str(status) for status in REFUSALS},
    "600": "crash",
    "601": "hang",
    "602": "stall",
    "603": "slow-2s",
}
_NUMBER_RECEIPT: Final = {
    "1": "receipt-early",
    "2": "receipt-late-5s",
    "3": "receipt-never",
    "4": "receipt-read",
    "5": "receipt-bounced",
    "6": "receipt-twice",
}
_NUMBER: Final = re.compile(r"1555(?P<status>\d{3})(?P<times>\d)(?P<receipt>\d)\d{2}")
_OUTCOME: Final = re.compile(r"(?P<what>\d{3}|crash|hang|stall)(?:x(?P<times>\d+))?")
_LENGTH: Final = re.compile(r"(?P<what>after|slow|receipt-late)-(?P<amount>\d{1,6})(?P<unit>ms|s)")
_ENDINGS: Final = {"crash": Ending.CRASH, "hang": Ending.HANG, "stall": Ending.STALL}
_RECEIPTS: Final = {
    "receipt-never": (),
    "receipt-read": ("delivered", "read"),
    "receipt-bounced": ("bounced",),
    "receipt-twice": ("delivered", "delivered"),
}


@lru_cache(maxsize=4096)
def steering_of(address: str, *, also: str = "") -> Steering:
    """Read the words of an address, then the words of `also`, which take precedence."""
    steering = Steering()
    for word in (*_words_of(address), *_split(also)):
        steering = _with_word(steering, word)
    return steering


def unknown_words(text: str) -> list[str]:
    """Return the unknown words, for an error message."""
    plain = Steering()
    known = {"receipt-at-once", "202"}
    return [w for w in _split(text) if w not in known and _with_word(plain, w) == plain]


def _words_of(address: str) -> list[str]:
    digits = re.sub(r"[\s().-]", "", address).removeprefix("+")
    if digits == NO_NUMBER:
        return ["400"]
    if number := _NUMBER.fullmatch(digits):
        words = [_NUMBER_STATUS.get(number["status"], "")]
        if number["times"] != "0" and not words[0].startswith("slow"):
            words[0] += f"x{number['times']}"
        return [*words, _NUMBER_RECEIPT.get(number["receipt"], "")]
    return _split(address)


def _split(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9-]+", text.lower()) if word]


def _with_word(steering: Steering, word: str) -> Steering:
    if word in _RECEIPTS:
        return replace(steering, receipts=_RECEIPTS[word])
    if word == "receipt-early":
        return replace(steering, receipt_early=True)
    if word == "nodedup":
        return replace(steering, dedup=False)
    if outcome := _OUTCOME.fullmatch(word):
        times = int(outcome["times"]) if outcome["times"] else None
        return _with_outcome(steering, outcome["what"], times=times)
    if length := _LENGTH.fullmatch(word):
        seconds = int(length["amount"]) / (1000 if length["unit"] == "ms" else 1)
        return _with_length(steering, length["what"], seconds=seconds)
    return steering


def _with_outcome(steering: Steering, what: str, *, times: int | None) -> Steering:
    if what in _ENDINGS:
        return replace(steering, refusal=None, ending=_ENDINGS[what], times=times)
    if int(what) in REFUSALS:
        return replace(steering, refusal=int(what), ending=Ending.ANSWER, times=times)
    return steering


def _with_length(steering: Steering, what: str, *, seconds: float) -> Steering:
    match what:
        case "after":
            return replace(steering, retry_after_seconds=max(1, round(seconds)))
        case "slow":
            return replace(steering, delay_seconds=seconds)
        case _:
            return replace(steering, receipt_delay_seconds=seconds)
