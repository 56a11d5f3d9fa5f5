/** Lists: an iteration reads page after page. */

/** A page of a list, as the API returns the page. */
export interface Page<Item> {
  results: Item[];
  /** The cursor of the next page; null after the last page. */
  next: string | null;
}

/** A list: `for await (const item of list)`. Every iteration sends requests anew. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** Read the first page only, or the page at the cursor of the request. */
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
