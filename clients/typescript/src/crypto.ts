/** Web Crypto, wherever the runtime has it. */

/** The global one; Node 18 has it only in a module of its own. */
export async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto?.subtle) return globalThis.crypto;
  const module: string = "node:crypto"; // a variable: bundlers for browsers look for no such module
  return ((await import(module)) as { webcrypto: Crypto }).webcrypto;
}
