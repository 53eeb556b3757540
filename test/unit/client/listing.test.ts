import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createOrdersClient } from '../../../src/client/client.ts'
import { ORDERS_PER_PAGE } from '../../../src/client/listing.ts'
import { MAX_ORDERS_PER_PAGE } from '../../../src/orders/list-params.ts'

it('the client requests the largest page of the API', () => {
  expect(ORDERS_PER_PAGE).toBe(MAX_ORDERS_PER_PAGE)
})

it.each([
  ['client.ts', `${ORDERS_PER_PAGE} per request by default`],
  ['sync/sync.ts', `1 to ${MAX_ORDERS_PER_PAGE}, default ${ORDERS_PER_PAGE}`],
])('the comment of the client in %s states the size of a page', async (file, text) => {
  const source = new URL(`../../../src/client/${file}`, import.meta.url)
  expect(await readFile(source, 'utf8')).toContain(text)
})

/** The limits that a client requests over a connection that is too slow for larger pages. */
async function limitsOver(slowerThan: number, pages: number): Promise<number[]> {
  const limits: number[] = []
  let sent = 0
  const fetch = async (url: string | URL | Request) => {
    const limit = Number(new URL(`${url}`).searchParams.get('limit'))
    limits.push(limit)
    if (limit > slowerThan) throw new DOMException('timeout', 'TimeoutError')
    const next = ++sent < pages ? `cursor${sent}` : null
    const page = { object: 'list', data: [], has_more: next !== null, next_cursor: next }
    return Response.json(page)
  }
  const client = createOrdersClient({ baseUrl: 'http://localhost', apiKey: 'k', fetch })
  for await (const _page of client.orders.list({ limit: 8 }).pages());
  return limits
}

it('a page that times out is requested with half as many orders, and later ones with more', async () => {
  expect(await limitsOver(6, 6)).toEqual([8, 4, 5, 6, 7, 3, 4, 5])
  expect(await limitsOver(2, 2)).toEqual([8, 4, 2, 3, 1])
})
