import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openPartFile } from '../../../../src/orders-cli/export/part-file.ts'
import { temporaryFolder } from '../../../support/stores/backend.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
})
afterEach(() => remove())

it('an export leaves the files to the process that has removed its expired lock', async () => {
  const request = { url: 'https://api.exemplo.com.br', filters: {}, format: 'csv', rows: 'orders' }
  const part = await openPartFile('pedidos.csv', request, false, folder)
  for (const name of readdirSync(folder)) if (name.includes('lock-')) rmSync(join(folder, name))
  await expect(part.append('id\r\n', 'next', 1)).rejects.toThrow(/perdeu a vez/)
  await expect(part.finish()).rejects.toThrow(/perdeu a vez/)
  await part.close()
  expect(readdirSync(folder).sort()).toEqual(['pedidos.csv.part', 'pedidos.csv.part.json'])
})
