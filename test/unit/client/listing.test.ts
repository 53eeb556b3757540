import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ORDERS_PER_PAGE } from '../../../src/client/listing.ts'
import { MAX_ORDERS_PER_PAGE } from '../../../src/orders/list-params.ts'

it('the client requests the largest page of the API', () => {
  expect(ORDERS_PER_PAGE).toBe(MAX_ORDERS_PER_PAGE)
})

it.each([
  ['client.ts', `${ORDERS_PER_PAGE} per request by default`],
  ['sync.ts', `1 to ${MAX_ORDERS_PER_PAGE}, default ${ORDERS_PER_PAGE}`],
])('the comment of the client in %s states the size of a page', async (file, text) => {
  const source = new URL(`../../../src/client/${file}`, import.meta.url)
  expect(await readFile(source, 'utf8')).toContain(text)
})
