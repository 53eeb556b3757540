import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'

let backend: Backend
beforeAll(() => {
  backend = createBackend()
})
afterAll(() => backend.remove())

const run = (args: string[], input = '') => runCommand(['index', ...args], backend.env, input)

describe('index status', () => {
  it('reports no change for an empty index', async () => {
    await run(['init'])
    const { code, stdout } = await run(['status', '--json', '--wait', '0s'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      documents: 0,
      orders_known: 0,
      writer: null,
      newest_visible_change: null,
      lag_seconds: null,
    })
  })

  it('counts documents and orders, and reports the lag of the newest change', async () => {
    const startedAt = Date.now()
    await run(['load', '-'], JSON.stringify(sourceOrder({ coproducer_account_ids: ['acc_2'] })))
    const { code, stdout, stderr } = await run(['status', '--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const status = JSON.parse(stdout)
    expect(status).toMatchObject({
      documents: 2,
      orders_known: 1,
      indices: [{ read: true, fed: true, documents: 2, bytes: expect.any(Number) }],
      lag_seconds: expect.any(Number),
    })
    expect(Date.parse(status.newest_visible_change)).toBeGreaterThanOrEqual(startedAt)
  })

  it('prints one name and value per line by default', async () => {
    const { stdout } = await run(['status'])
    expect(stdout).toMatch(
      /^documents: {13}2\norders known: {10}1\nindex: {17}\S+orders\S* \(read and fed, /,
    )
    expect(stdout).toMatch(/^newest visible change: \d{4}-\S+Z\nlag: {19}[\d.]+ s$/m)
  })

  it('exits 2 for an invalid duration', async () => {
    const { code, stderr } = await run(['status', '--wait', 'long'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--wait') })
  })
})
