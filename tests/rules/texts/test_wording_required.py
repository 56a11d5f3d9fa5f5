"""What a source needs is what it would miss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.language.templating import RenderError, compile_text
from notifications.core.rules.texts.wording import required_by_source


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("{{ a }} {{ b.c }} {{ d['e'] }}", {"a", "b", "d"}),
        ("{{ a|upper }}{{ b|truncate(c) }}", {"a", "b"}),
        ("{{ a|default(b) }}{{ c|d('x')|upper }}", set()),
        ("{{ a.b|default('x') }}", {"a"}),
        ("{% if a is defined %}{{ a }}{% endif %}", set()),
        ("{% if a %}{{ b }}{% elif c %}{% else %}{{ e }}{% endif %}", {"a"}),
        ("{% for i in a %}{{ i }}{{ loop.index }}{{ b }}{% endfor %}", {"a"}),
        ("{{ a if b else c }}", {"b"}),
        ("{{ a and b }}{{ c or e }}", {"a", "c"}),
        ("{{ a < b < c }}", {"a", "b"}),
        ("{{ a[b:c] }}{{ [b] }}", {"a"}),
    ],
)
def test_needed_is_what_is_looked_up_in_any_case(source: str, names: set[str]) -> None:
    assert required_by_source(source) == names


PIECES = (
    *("{{ a }}", "{{ a.b }}", "{{ a|default('') }}", "{{ a|default(b) }}", "{{ a is defined }}"),
    *("{{ a.b|default(c) }}", "{{ a and b }}", "{{ a or b }}", "{{ a if b else c }}"),
    *(
        "{% if a %}{{ b }}{% else %}{{ c }}{% endif %}",
        "{% for i in a %}{{ i }}{{ b }}{% endfor %}",
    ),
    *("{{ a == b == c }}", "{{ a in [b, c] }}", "{{ not a }}", "{{ -a }}", "{{ a|join(b) }}"),
    *("{{ b|int(c) }}", "{{ b is none }}", "{{ c is eq(b) }}", "{{ [b] }}", "{{ a[c]|d(b) }}"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), st.sampled_from("abc"))
def test_a_render_never_succeeds_without_what_it_needs(source: str, name: str) -> None:
    given = {"a": [1], "b": "x", "c": ""}
    del given[name]
    if name in required_by_source(source):
        with pytest.raises(RenderError):
            compile_text("", source).render(given)
