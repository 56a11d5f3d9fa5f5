// Bundles and minifies the web components: `make embed` (node build.mjs SOURCES OUTPUT).
//
// Each file of OUTPUT is one ES module without imports, because the `integrity` of a script does not
// cover what the script imports. The first line has the digest of the sources, so that a test without
// Node finds a file that is older than its sources.
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, transform } from "esbuild";

const ENTRIES = {
  "notify-inbox.js": "element.js",
  "notify-inbox-client.js": "client.js",
  "notify-preferences.js": "preferences.js",
  "notify-push.js": "notify-push.js",
  "notify-sw.js": "notify-sw.js",
};
const SERVICE_WORKER = "notify-sw.js"; // loaded with importScripts(), so no module
const [sources, output] = process.argv.slice(2);

const minifiedStyles = {
  name: "minified-styles",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

async function digest() {
  const hash = createHash("sha256");
  for (const name of (await readdir(sources)).filter((each) => /\.(js|css)$/.test(each)).sort()) {
    hash.update(await readFile(join(sources, name)));
  }
  return hash.digest("hex").slice(0, 16);
}

const banner = `/* Apache-2.0; sources ${await digest()} */`;
for (const [name, entry] of Object.entries(ENTRIES)) {
  await build({
    entryPoints: [join(sources, entry)],
    outfile: join(output, name),
    bundle: true,
    format: name === SERVICE_WORKER ? "iife" : "esm",
    minify: true,
    charset: "utf8",
    target: "es2022",
    legalComments: "none",
    banner: { js: banner },
    plugins: [minifiedStyles],
    logLevel: "warning",
  });
  await writeFile(join(output, name), (await readFile(join(output, name), "utf8")).trimEnd() + "\n");
}
