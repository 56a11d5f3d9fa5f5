// Writes src/schema.ts from the service's OpenAPI document: `npm run generate -- schema.json [out]`.
//
// The shapes and each operation's query are taken; problems and headers are the same for all
// operations, so src/errors.ts and src/transport.ts name them once.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const [from, to = new URL("src/schema.ts", import.meta.url)] = process.argv.slice(2);
if (!from) {
  console.error("Give the OpenAPI document: npm run generate -- schema.json (curl -s .../v1/schema).");
  process.exit(1);
}
const document = JSON.parse(await readFile(from, "utf8"));

const schemas = { ...document.components.schemas };
for (const operation of Object.values(document.paths).flatMap((each) => Object.values(each))) {
  const query = (operation.parameters ?? []).filter((each) => each.in === "query");
  if (query.length === 0) continue;
  const words = operation.operationId.split("_").map((word) => word[0].toUpperCase() + word.slice(1));
  schemas[`${words.join("")}Query`] = {
    type: "object",
    description: `The query of \`${operation.operationId}\`.`,
    properties: Object.fromEntries(query.map((each) => [each.name, described(each)])),
    required: query.filter((each) => each.required).map((each) => each.name),
  };
}

function described({ schema: { default: value, ...schema }, description }) {
  const said = [description ?? schema.description, value === undefined ? "" : `Default: \`${value}\`.`];
  return { ...schema, description: said.filter(Boolean).join(" ") || undefined };
}

// A title repeats the name that the type or field has anyway; Ajv's pattern keys are any name.
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (node === null || typeof node !== "object") return node;
  const { patternProperties, propertyNames: _names, ...kept } = node;
  if (typeof kept.title === "string") delete kept.title;
  if (typeof patternProperties === "object") kept.additionalProperties = Object.values(patternProperties)[0];
  return Object.fromEntries(Object.entries(kept).map(([name, part]) => [name, plain(part)]));
}

// `user_id` or `to` is an anyOf of required names, which a type cannot say more than the fields do.
for (const shape of Object.values(schemas)) {
  if (shape.properties && shape.anyOf?.every((each) => Object.keys(each).join() === "required")) {
    shape.anyOf = undefined;
  }
}
const ast = await openapi(
  { openapi: document.openapi, info: document.info, paths: {}, components: { schemas: plain(schemas) } },
  { rootTypes: true, rootTypesNoSchemaPrefix: true, emptyObjectsUnknown: true },
);
const head = "// Written by `npm run generate` from the service's OpenAPI document. Not edited by hand.\n\n";
await writeFile(to, head + astToString(ast) + firstFields());

// A field that each answer of an operation has; the JSON of a proxy lacks the field. An operation with several shapes of
// answers has none.
function firstFields() {
  const lines = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      const shapes = new Set(answers.map(([, { content }]) => content?.["application/json"]?.schema.$ref));
      const [shape] = shapes;
      if (shape === undefined || shapes.size > 1) return [];
      const { properties, required } = document.components.schemas[shape.split("/").at(-1)];
      const first = Object.keys(properties).find((each) => required?.includes(each));
      return first === undefined ? [] : [`    ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${JSON.stringify(first)},\n`];
    }),
  );
  return `/** The first field that each answer of an operation has. */\nexport const FIRST_FIELDS: Readonly<Record<string, string>> = {\n${lines.join("")}};\n`;
}
