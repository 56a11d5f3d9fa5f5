// Bundles and minifies the web components: `make embed` (node build.mjs CORE INBOX), from the folders with the static files
// of the core and of the inbox: sources in inbox/, bundles in embed/current/. Sources of one folder import sources of the
// other, as pages find both below /static/, so the bundler reads a copy of all in one folder.
//
// Each bundle is one ES module without imports, because the `integrity` of a script does not
// cover what the script imports. The first line has the digest of the sources, so that a test without
// Node finds a file that is older than its sources.
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, transform } from "esbuild";

const [core, inbox] = process.argv.slice(2);
const ENTRIES = {
  "notify-inbox.js": [inbox, "element.js"],
  "notify-inbox-client.js": [inbox, "client.js"],
  "notify-preferences.js": [core, "preferences.js"],
  "notify-push.js": [core, "notify-push.js"],
  "notify-sw.js": [core, "notify-sw.js"],
};
const SERVICE_WORKER = "notify-sw.js"; // loaded with importScripts(), so no module
const sources = await mkdtemp(join(tmpdir(), "embed-"));
for (const home of [core, inbox]) await cp(join(home, "inbox"), sources, { recursive: true });

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
for (const [name, [home, entry]] of Object.entries(ENTRIES)) {
  const outfile = join(home, "embed", "current", name);
  await build({
    entryPoints: [join(sources, entry)],
    outfile,
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
  await writeFile(outfile, (await readFile(outfile, "utf8")).trimEnd() + "\n");
}
// An app with React Native loads no script of the service, so the client has the class.
await cp(join(inbox, "embed", "current", "notify-inbox-client.js"), join("clients", "typescript", "src", "inbox-client.js"));
await rm(sources, { recursive: true });
