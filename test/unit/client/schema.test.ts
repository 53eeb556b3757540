import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { renderClientTypes } from '../../../scripts/client-types/render.ts'

it('the client types match openapi/openapi.json; npm run openapi regenerates them', async () => {
  const committed = new URL('../../../src/client/schema.ts', import.meta.url)
  expect(await readFile(committed, 'utf8')).toBe(await renderClientTypes())
})
