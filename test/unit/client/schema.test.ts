import { readFile } from 'node:fs/promises'
import { expect, expectTypeOf, it } from 'vitest'
import { renderClientTypes } from '../../../scripts/client-types/render.ts'
import type { AccountKey } from '../../../src/client/schema.ts'

it('the client types match openapi/openapi.json; npm run openapi regenerates them', async () => {
  const committed = new URL('../../../src/client/schema.ts', import.meta.url)
  expect(await readFile(committed, 'utf8')).toBe(await renderClientTypes())
})

it('the scopes of a key are a list of known and unknown names', async () => {
  expectTypeOf<AccountKey['scopes'][number]>().toEqualTypeOf<
    'orders:read' | 'orders:read_masked' | (string & {})
  >()
  expectTypeOf<AccountKey['scopes']>().toExtend<readonly string[]>()
  expect(await renderClientTypes()).toContain(
    "scopes: ('orders:read' | 'orders:read_masked' | (string & {}))[]",
  )
})
