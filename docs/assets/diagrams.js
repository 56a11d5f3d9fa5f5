// Draws the diagrams of a page. Mermaid comes from this site; where `make docs` found no npm, the
// file is missing and the page shows the source text of the diagrams.
const diagrams = document.querySelectorAll("pre.diagram code");
if (diagrams.length > 0) {
  const script = document.createElement("script");
  script.src = new URL("mermaid.min.js", document.currentScript.src);
  script.onload = () => {
    const dark = document.body.dataset.mdColorScheme === "slate";
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "default" });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
}
