"""An error of a render tells an operator what to mend, and never what a variable holds."""

from __future__ import annotations

import tracemalloc
from itertools import product

import pytest

from notifications.core.rules.language import syntax
from notifications.core.rules.language.templating import (
    CompiledText,
    RenderError,
    check,
    compile_text,
)

CANARY = "864209"


def _error(source: str, **variables: object) -> RenderError:
    with pytest.raises(RenderError) as failed:
        compile_text("", source).render(variables)
    return failed.value


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("{{ labels[pin] }}", "'labels[pin]'"),
        ("{{ labels[pin].city }}", "'labels[pin]'"),
        ("{{ shop.labels[pin] }}", "'shop.labels[pin]'"),
        ("{{ labels[user.pin] }}", "'labels[user.pin]'"),
        ("{{ labels['x'] }}", "'x'"),
        ("{{ labels.x }}", "'x'"),
        ("{{ items[7] }}", "'items[7]'"),
        ("{{ items[pin] }}", "'items[pin]'"),
        ("{{ items[pin|int] }}", "'items[…]'"),
        ("{{ (labels or items)[pin] }}", "'…[pin]'"),
        ("{% for each in labels[pin] %}{{ each }}{% endfor %}", "'labels[pin]'"),
        ("{{ labels[pin]|upper }}", "'labels[pin]'"),
        ("{{ labels[missing] }}", "'missing'"),
    ],
)
def test_a_missing_key_has_the_name_that_the_source_gives_it(source: str, named: str) -> None:
    error = _error(source, pin=CANARY, labels={}, items=[], shop={"labels": {}}, user={"pin": 8})
    assert str(error) == f"the variable {named} is missing"


def test_a_key_in_quotes_is_found_like_one_after_a_point() -> None:
    found = compile_text("", "{{ a['b'] }}{{ a.b }}{{ a[k] }}{{ c[0] }}{{ c[1:] }}")
    assert found.render({"a": {"b": "x"}, "k": "b", "c": [1, 2]}).body == "xxx1[2]"


_FILTERS = [f"{{{{ pin|{name} }}}}" for name in sorted(syntax.FILTERS - {"plural"})]
_TESTS = [f"{{{{ pin is {name} }}}}" for name in sorted(syntax.TESTS)]
_ARGUED = [
    f"{{{{ pin {operator} other }}}}" for operator in ("+", "-", "*", "/", "//", "%", "<", "in")
]
_USES = [
    *("{{ pin|round(other) }}", "{{ pin|truncate(other) }}", "{{ other|join(pin) }}"),
    *("{{ pin|default }}", "{{ pin|money(other) }}", "{{ other|money(pin) }}"),
    *("{{ pin|date(other) }}", "{{ other|date(pin) }}", "{{ other|number(pin) }}"),
    *("{{ pin|plural(other='x') }}", "{{ other|listed(pin) }}", "{{ pin|int(other) }}"),
    *("{{ pin.x }}", "{{ pin[other] }}", "{{ other[pin] }}", "{{ {'a': 1}[pin] }}"),
    *("{% for a in pin %}{{ a.b }}{% endfor %}", "{{ -pin }}", "{{ pin[other:] }}"),
    *("{{ pin is divisibleby(other) }}", "{{ pin is eq(other) }}", "{{ pin is in(other) }}"),
]


VALUES: list[object] = [
    *(CANARY, int(CANARY), float(CANARY), [CANARY], {CANARY: CANARY}, {"x": [CANARY]}),
    *("9" * 400 + CANARY, {"amount": CANARY, "currency": CANARY}, f"{CANARY}-13-45"),
    f"<{CANARY}",
]
OTHERS: list[object] = [None, 3, -1, "x", [], {}, [1], 10**400]


@pytest.mark.parametrize("source", [*_FILTERS, *_TESTS, *_ARGUED, *_USES])
def test_no_error_quotes_a_value(source: str) -> None:
    if check(source):
        return  # it is no template, so nothing ever renders it
    text = compile_text("", source)
    for value, other in product(VALUES, OTHERS):
        assert CANARY not in _told(text, {"pin": value, "other": other}), (value, other)


def _told(text: CompiledText, variables: dict[str, object]) -> str:
    """What a log can say of the error of a render; empty where there is none."""
    try:
        text.render(variables)
    except RenderError as error:
        return f"{error} {error!r} {error.__cause__!r}"
    return ""


def test_a_value_that_nests_too_deeply_is_an_error_of_the_render() -> None:
    deep: object = CANARY
    for _ in range(100_000):
        deep = [deep]
    assert CANARY not in str(_error("{{ pin|upper }}", pin=deep))


@pytest.mark.parametrize("part", ["{{ xs|join(between) }}" * 32, "{{ x }}" * 1_000])
def test_a_text_that_is_too_long_is_not_made_to_its_end(part: str) -> None:
    text = compile_text("", "", part)
    # Almost the most characters, 32 times; or the longest variable, whose escapes are longer.
    variables = {"xs": ["a"] * 400, "between": "b" * 1200, "x": "<" * 60_000}
    tracemalloc.start()
    try:
        with pytest.raises(RenderError, match="longer than"):
            text.render(variables)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 6_000_000, "bytes: the text stops behind its first values"
