/**
 * The pages of a sorted search. `search` receives the part of the body that continues after a page,
 * and returns fewer than `pageSize` hits for the last one.
 */
export async function* searchAfter<H extends { sort?: unknown }>(
  pageSize: number,
  search: (next: { search_after?: unknown }) => Promise<H[]>,
): AsyncGenerator<H[]> {
  for (let next = {}; ; ) {
    const hits = await search(next)
    if (hits.length > 0) yield hits
    if (hits.length < pageSize) return
    next = { search_after: hits.at(-1)?.sort }
  }
}
