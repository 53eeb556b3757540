import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { createOrdersClient } from '../../../../src/client/client.ts'
import { createFormat } from '../../../../src/orders-cli/export/formats/format.ts'
import { CompleteFileError, openPartFile } from '../../../../src/orders-cli/export/part-file.ts'
import { exportToFile } from '../../../../src/orders-cli/export/write.ts'
import { size } from '../../../../src/orders-cli/terminal/format-text.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

const BASE_URL = 'https://api.exemplo.com.br'
const page = { object: 'list', data: [apiOrder()], has_more: false, next_cursor: null }

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

/**
 * Exports to pedidos.xlsx. `onOrder` runs before each order. Returns the printed lines, or the
 * error.
 */
async function exportToXlsx(onOrder: () => void): Promise<unknown> {
  const request = { url: BASE_URL, filters: {}, format: 'xlsx', rows: 'orders' }
  const part = await openPartFile('pedidos.xlsx', request, false, folder)
  const fetch = async (url: unknown) =>
    `${url}`.includes('/v1/orders') ? Response.json(page) : new Response(null, { status: 404 })
  const job = {
    client: createOrdersClient({ baseUrl: BASE_URL, apiKey: 'key_live_1', fetch }),
    filters: {},
    format: createFormat('xlsx', { rows: 'orders', headers: 'api' }),
    progress: { update() {}, wait() {}, fail() {}, recover() {} },
    part,
    file: 'pedidos.xlsx',
    resumeCommand: ['orders', 'export', '--resume'],
  }
  const lines: string[] = []
  const status = { show: onOrder, clear() {}, printLine: (line: string) => void lines.push(line) }
  const stream = { isTTY: false, columns: 0, write() {} }
  const signal = new AbortController().signal
  const process = { program: ['orders'], cwd: folder, env: {}, stdout: stream, stderr: stream }
  try {
    await exportToFile(job, { ...process, signal, status })
    return lines
  } catch (error) {
    return error
  } finally {
    await part.close()
  }
}

/** The same, where the removal of the state file fails. */
const failToRemoveState = () =>
  exportToXlsx(() => {
    rmSync(`${folder}/pedidos.xlsx.part.json`, { recursive: true })
    mkdirSync(`${folder}/pedidos.xlsx.part.json`)
  })

it('an export to xlsx prints the size of the spreadsheet', async () => {
  const lines = await exportToXlsx(() => {})
  const bytes = statSync(`${folder}/pedidos.xlsx`).size
  expect(lines).toEqual([expect.stringContaining(`1 pedido em pedidos.xlsx (${size(bytes)}, `)])
})

it('an export that fails after the rename reports a complete file, and nothing to continue', async () => {
  const error = await failToRemoveState()
  expect(error).toBeInstanceOf(CompleteFileError)
  expect(`${error}`).toContain('pedidos.xlsx está completo, mas algo falhou depois disso: ')
})

it('an export removes its part before its state, so that no part without a state stays', async () => {
  await failToRemoveState()
  expect(readdirSync(folder).sort()).toEqual(['pedidos.xlsx', 'pedidos.xlsx.part.json'])
})
