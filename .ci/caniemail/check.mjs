// Prints what the data of caniemail.com says about the mail on stdin: {"not supported": {feature: [clients]}, "partial": {...}}
import { readFileSync } from "node:fs";
import { doIUseEmail } from "@jsx-email/doiuse-email";

// Windows Mail is no longer sold: Microsoft ended it on 2024-12-31.
const CLIENTS = ["apple-mail.*", "gmail.*", "outlook.windows", "outlook.macos", "outlook.ios", "outlook.android"];

const { errors = [], warnings = [] } = doIUseEmail(readFileSync(0, "utf8"), { emailClients: CLIENTS });

function byFeature(lines) {
  const found = {};
  for (const line of lines) {
    const [, feature, client] = /^`(.+)` is (?:not|only partially) supported by `(.+)`$/.exec(line);
    (found[feature] ??= new Set()).add(client);
  }
  return Object.fromEntries(Object.entries(found).map(([feature, clients]) => [feature, [...clients].sort()]));
}

console.log(JSON.stringify({ "not supported": byFeature(errors), partial: byFeature(warnings) }));
