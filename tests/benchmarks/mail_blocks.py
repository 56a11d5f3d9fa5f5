"""[mail_blocks] Time to render a mail in blocks, beside the same mail as HTML.

Both mails have a preheader, a heading, a paragraph with a link, a button, a table of three rows and
a condition; the HTML is framed by the service. The mail in blocks has the neutral brand. Neither
uses a filter, which would take more time than all else and hide the difference.
"""

from __future__ import annotations

import time
from typing import Final

from notifications.core.rules.language.templating import Reader
from notifications.core.rules.texts import wording
from notifications.core.rules.texts.wording import TextSource, Wording
from providers.contract import Channel
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 3_000
_TARGET: Final = 1.2
_BLOCKS: Final = """\
::: preheader Invoice {{ number }} is due

# Hello {{ name }}

Your invoice **{{ number }}** is ready: [see it]({{ url }}).

::: button [Pay now]({{ url }})

::: table item in items
| Article | Price |
| --- | --: |
| {{ item.name }} | {{ item.price }} |
::: end

::: if total > 100
Shipping is free.
::: else
Shipping costs 5 EUR.
::: end
"""
_HTML: Final = """\
<div style="display: none">Invoice {{ number }} is due</div>
<h1>Hello {{ name }}</h1>
<p>Your invoice <strong>{{ number }}</strong> is ready: <a href="{{ url }}">see it</a>.</p>
<p><a href="{{ url }}" style="padding: 12px 24px; background: #1d4ed8; color: #fff">Pay now</a></p>
<table><tr><th>Article</th><th>Price</th></tr>
{% for item in items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>
{% endfor %}</table>
{% if total > 100 %}<p>Shipping is free.</p>{% else %}<p>Shipping costs 5 EUR.</p>{% endif %}
"""
_VARIABLES: Final = {
    "name": "Ada",
    "number": "R-17",
    "total": 150,
    "url": "https://shop.example/pay?a=1&b=2",
    "items": [{"name": "Chair", "price": "9.90"}] * 3,
}


def measure(stage: Stage) -> Figure:
    """Measure it."""
    del stage  # no process is involved
    in_blocks, as_html = _prepared(blocks=_BLOCKS), _prepared(html=_HTML)
    found = paired(
        ours=lambda: _microseconds(in_blocks),
        theirs=lambda: _microseconds(as_html),
    )
    return Figure(
        name="mail_blocks",
        value=found.ours,
        unit="us of CPU a mail in blocks",
        baseline="us of CPU the same mail as HTML",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET}x the HTML",
        met=found.ratio <= _TARGET,
    )


def _prepared(*, blocks: str = "", html: str = "") -> Wording:
    source = TextSource(
        channel=Channel.EMAIL, locale="en", title="Invoice {{ number }}", blocks=blocks, html=html
    )
    return wording.compile_text(wording.with_compiled_blocks(source))


def _microseconds(mail: Wording) -> float:
    reader = Reader("en")
    begun = time.process_time()
    for _ in range(_COUNT):
        mail.render(_VARIABLES, reader)
    return (time.process_time() - begun) / _COUNT * 1e6
