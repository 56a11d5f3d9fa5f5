/** Lists, read page by page while they are iterated. */

/** One page, as the API answers it. */
export interface Page<Item> {
  results: Item[];
  /** The cursor of the next page; null: there is none. */
  next: string | null;
}

/** A list: `for await (const item of list)`. Nothing is asked before; each iteration asks anew. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** The first page alone, or the page at the cursor that was asked for. */
  page(): Promise<Page<Item>> {
    return this.#read(undefined);
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const seen = new Set<string>();
    let page = await this.page();
    for (;;) {
      yield page;
      const { next } = page;
      if (next === null || next === undefined) return;
      if (seen.has(next)) throw new Error("the list repeats a page: its iteration would never end");
      seen.add(next);
      page = await this.#read(next);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.results;
  }
}
