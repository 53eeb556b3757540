import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sum } from '../harness/statistics.ts'
import { runCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend, onServices } from '../support/stores/backend.ts'

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

  it('reports the documents and the size of each shard, of which the embedded store has none', async () => {
    const sharded = createBackend()
    sharded.env['ORDERS_SHARDS'] = '3'
    const runSharded = (args: string[], input = '') =>
      runCommand(['index', ...args], sharded.env, input)
    const accounts = Array.from({ length: 12 }, (_, n) => `acc_${n}`)
    const order = sourceOrder({ owner_account_id: 'acc_0', coproducer_account_ids: accounts })
    await runSharded(['load', '-'], JSON.stringify(order))
    const { stdout: json } = await runSharded(['status', '--json', '--wait', '0s'])
    const { stdout: text } = await runSharded(['status', '--wait', '0s'])
    await sharded.remove()

    const [{ documents, shards }] = JSON.parse(json).indices
    const expected = onServices ? [0, 1, 2] : []
    expect(shards).toEqual(
      expected.map((shard) => ({
        shard,
        documents: expect.any(Number),
        bytes: expect.any(Number),
        oversized: false,
      })),
    )
    const counts: number[] = shards.map(({ documents }: { documents: number }) => documents)
    expect(counts).not.toContain(0)
    expect(documents).toBe(12)
    expect(sum(counts)).toBe(onServices ? documents : 0)
    expect(text).toMatch(/\(read, write target, 12 documents(, .*)?\)$/m)
    expect(text.match(/^shard \d: +\d+ documents(, [\d.]+ MB)?$/gm) ?? []).toHaveLength(
      expected.length,
    )
  })

  it('prints one name and value per line by default', async () => {
    const { stdout } = await run(['status'])
    expect(stdout).toMatch(
      /^documents: {13}2\norders known: {10}1\nindex: {17}\S+orders\S* \(read, write target, /,
    )
    expect(stdout).toMatch(/^newest visible change: \d{4}-\S+Z\nlag: {19}[\d.]+ s$/m)
  })

  it('exits 2 for an invalid duration', async () => {
    const { code, stderr } = await run(['status', '--wait', 'long'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--wait') })
  })
})
