import type { ListBody, TestApp } from '../http/test-app.ts'

const MAX_PAGES = 10_000

/** Follows a listing to its end; `between` runs after every page that has a next one. */
export async function walk(
  app: Pick<TestApp, 'list'>,
  key: string,
  query: string,
  between: (page: ListBody) => Promise<void> | void = () => {},
): Promise<ListBody[]> {
  const pages: ListBody[] = []
  let cursor: string | null = null
  do {
    const page: ListBody = await app.list(cursor ? `${query}&cursor=${cursor}` : query, key)
    pages.push(page)
    cursor = page.next_cursor
    if (page.has_more) await between(page)
  } while (cursor !== null && pages.length < MAX_PAGES)
  if (cursor !== null) throw new Error(`no end after ${MAX_PAGES} pages of ${query}`)
  return pages
}
