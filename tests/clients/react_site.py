"""A URL table with a site of a producer whose page React makes, with the compiled client.

React has no ES modules: the page runs the files of its packages as Node would, and the client
imports a module with the exports.
"""

from __future__ import annotations

import json
import re
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import path

from notifyproj.urls import handler400, handler403, handler404, handler500
from tests.clients.typescript import ROOT
from tests.features.inbox import site

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

_PACKAGES: Final = {
    "react": "react/cjs/react.development.js",
    "scheduler": "scheduler/cjs/scheduler.development.js",
    "react-dom": "react-dom/cjs/react-dom.development.js",
    "react-dom/client": "react-dom/cjs/react-dom-client.development.js",
}
_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<script src="/packages.js"></script><script type="module" src="/page.js"></script>
<div id="app"></div></html>"""
_SCRIPT: Final = """\
import { Inbox, Preferences, useInbox } from "/client/react.js";
import { useInbox as useInApp } from "/client/react-native.js";
const { createElement: h, StrictMode } = packages.react;
window.subscribed = [];
const at = { baseUrl: location.origin };
const token = async () => (await fetch("/token")).json();
function Bell({ person }) {
  const { inbox, ...now } = useInbox({ ...at, person, token });
  Object.assign(window, { inbox, now });
  return h("p", { id: "own" }, `${now.state}: ${now.items.map((item) => item.title)}`);
}
function InApp({ person }) {
  const onForeground = (call) => {
    subscribed.push(call);
    window.toForeground = call;
    return () => {};
  };
  const { items } = useInApp({ ...at, person, token, share: false, onForeground });
  return h("p", { id: "app-inbox" }, items.map((item) => item.title));
}
const root = packages["react-dom/client"].createRoot(document.getElementById("app"));
window.heard = [];
const hear = (event) => heard.push(event.type);
window.draw = (person) => root.render(h(StrictMode, null,
  h(Bell, { person }),
  h(InApp, { person }),
  h(Inbox, {
    ...at, tokenUrl: "/token", open: person === "maria", className: "bell",
    onCounts: hear, onToggle: hear,
  }),
  h(Inbox, { ...at, token: person === "nobody" ? null : () => token(), className: "own" }),
  h(Inbox, { ...at, token: null, className: "nobody" }),
  h(Preferences, { ...at, token: () => token(), locale: "de" }),
));
window.leave = () => root.unmount();
draw("maria");
"""


def page(_request: HttpRequest) -> HttpResponse:
    """Return the page of the shop."""
    return HttpResponse(_PAGE)


def packages(_request: HttpRequest) -> HttpResponse:
    """Return a script that sets `packages`: the exports of React's packages by name."""
    modules = [
        f"({json.dumps(name)}, (module, exports, require) => {{"
        f"{(ROOT / 'node_modules' / file).read_text()}}})"
        for name, file in _PACKAGES.items()
    ]
    script = (
        "window.packages = {}; window.process = {env: {NODE_ENV: 'development'}};"
        "const define = (name, run) => { const module = {exports: {}};"
        " run(module, module.exports, (wanted) => packages[wanted]);"
        " packages[name] = module.exports; };"
    )
    calls = "".join(f"define{each};" for each in modules)
    return HttpResponse(script + calls, content_type="text/javascript")


def script(_request: HttpRequest) -> HttpResponse:
    """Return the script of the page."""
    return HttpResponse(_SCRIPT, content_type="text/javascript")


def react(_request: HttpRequest) -> HttpResponse:
    """Return the module `react` with the names that the client imports."""
    names: set[str] = set()
    for file in ("react.js", "react-native.js", "use-inbox.js"):
        compiled = (ROOT / "dist" / file).read_text()
        for found in re.findall(r"import \{([^}]*)\} from \"react\"", compiled):
            names |= {each.strip() for each in found.split(",")}
    return HttpResponse(
        f"export const {{{', '.join(sorted(names))}}} = packages.react;",
        content_type="text/javascript",
    )


def client(_request: HttpRequest, name: str) -> HttpResponse:
    """Return a compiled module, with the address of React as a bundler would set it."""
    compiled = (ROOT / "dist" / name).read_text().replace('from "react"', 'from "/react.js"')
    return HttpResponse(compiled, content_type="text/javascript")


urlpatterns = [
    path("shop", page),
    path("packages.js", packages),
    path("page.js", script),
    path("react.js", react),
    path("client/<str:name>", client),
    *site.urlpatterns,  # with the same name, the first path counts
]
