"""Texts of the generated code are the texts of Jinja's own code."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.compiler import CodeGenerator

from notifications.core.rules.language import templating
from notifications.core.rules.language.code_generator import FewerCalls
from notifications.core.rules.language.templating import RenderError, compile_text

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from("abc"), SCALARS)
PIECES = st.sampled_from((
    *("<p>\n", "{{ a }}", "{{ b }}", "{{ a.b }}", "{{ a.b.c }}", "{{ a[b] }}", "{{ none }}"),
    *("{{ a|upper }}", "{{ b|length }}", "{{ a|default(b) }}", "{{ a + b }}", "{{ 'x' if a }}"),
    *("{% if a %}x{{ b }}{% elif b %}{{ a }}{% else %}<{% endif %}", "{{ c is defined }}"),
    *("{% for i in a %}{{ loop.index }}{{ i }}{{ b }},{% else %}{{ b }}{% endfor %}",),
    *(
        "{% for i in a if i %}{{ i }}{% endfor %}",
        "{% for i in a %}{% for j in b %}{{ j }}",
    ),
))
SOURCES = st.lists(PIECES, max_size=24).map(
    lambda pieces: "".join(
        piece + "{% endfor %}" * (piece.count("{% for") - piece.count("{% endfor"))
        for piece in pieces
    )
)


def told(source: str, variables: dict[str, object]) -> object:
    """Return the three parts of a render, or the text of its error."""
    try:
        return compile_text(source, source, source).render(variables)
    except RenderError as error:
        return str(error)


@settings(deadline=None)  # a busy machine is no fault
@given(SOURCES, st.dictionaries(st.sampled_from("abc"), VALUES))
def test_the_texts_and_errors_are_those_of_jinjas_own_code(
    source: str, variables: dict[str, object]
) -> None:
    own = told(source, variables)
    compiler = type(templating.environment(autoescape=False))
    assert compiler.code_generator_class is FewerCalls
    with patch.object(compiler, "code_generator_class", CodeGenerator):
        assert own == told(source, variables)
