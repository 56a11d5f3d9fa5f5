/** Web Crypto of the runtime. */

/** The global object; Node 18 has Web Crypto only in a module. */
export async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto?.subtle) return globalThis.crypto;
  const module: string = "node:crypto"; // a variable: bundlers for browsers look for no such module
  return ((await import(module)) as { webcrypto: Crypto }).webcrypto;
}
