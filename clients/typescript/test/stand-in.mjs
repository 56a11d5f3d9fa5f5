// A stand-in between the client and the real service. Each request takes the next of its answers:
// "pass" forwards it, and so does every request after the last of them.
import http from "node:http";
import { once } from "node:events";

const PROBLEM = { "Content-Type": "application/problem+json" };

export function problem(status, code, headers = {}) {
  const text = JSON.stringify({ type: `urn:notify:problem:${code}`, code, title: code, status, detail: "" });
  return (_, response) => response.writeHead(status, { ...PROBLEM, ...headers }).end(text);
}

export const answers = (status, text, headers = {}) => (_, response) => response.writeHead(status, headers).end(text);

export class StandIn {
  requests = [];

  constructor(service, ...behaviours) {
    this.service = service;
    this.behaviours = behaviours;
    this.server = http.createServer((request, response) => this.#take(request, response));
  }

  async start() {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url: path, headers } = request;
    this.requests.push({ method, path, headers, body: body.toString() });
    const behaviour = this.behaviours.shift() ?? "pass";
    if (typeof behaviour === "function") return behaviour(request, response);
    const done = await this.#forward({ method, path, headers }, body);
    // The service has answered, so it has stored what it was asked to.
    if (behaviour === "drop") return response.socket.destroy();
    if (behaviour === "hang") return undefined;
    const head = { ...done.headers };
    delete head["transfer-encoding"];
    if (behaviour === "cut") {
      response.writeHead(done.status, { ...head, "content-length": done.body.length });
      response.write(done.body.subarray(0, 5));
      return setImmediate(() => response.socket.destroy());
    }
    if (behaviour === "drip") return response.writeHead(done.status, head).write(" ");
    return response.writeHead(done.status, head).end(done.body);
  }

  async #forward({ method, path, headers }, body) {
    const asking = http.request(`${this.service}${path}`, { method, headers: { ...headers, host: new URL(this.service).host } });
    asking.end(body);
    const [answer] = await once(asking, "response");
    const chunks = [];
    for await (const chunk of answer) chunks.push(chunk);
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
  }
}
