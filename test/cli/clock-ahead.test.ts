import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices } from '../../src/services.ts'
import { runCommand, runProcess } from '../support/cli/command.ts'
import { skewed } from '../support/cli/watch-process.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend, onServices, opensearch } from '../support/stores/backend.ts'
import { writeFutureTimestamps } from '../support/stores/future-timestamps.ts'

const FOUR_YEARS_MS = 4 * 365 * 86_400_000

let backend: Backend
beforeEach(() => {
  backend = createBackend()
})
afterEach(() => backend.remove())

const run = (args: string[], input = '') => runCommand(args, backend.env, input)

/** Runs the command on a machine whose clock is wrong by this much. */
const runSkewed = (args: string[], input: string, skewMs: number) =>
  runProcess(args, { ...backend.env, NODE_OPTIONS: skewed(skewMs) }, input)

const LOAD = ['index', 'load', '-', '--live', '--json']
const load = (order: object) => run(LOAD, JSON.stringify(order))
const loadSkewed = (order: object, skewMs: number) => runSkewed(LOAD, JSON.stringify(order), skewMs)

async function status() {
  return JSON.parse((await run(['index', 'status', '--json', '--wait', '0s'])).stdout)
}

async function updatedAt(id: string): Promise<number> {
  const services = await openServices(parseConfig(backend.env))
  const order = await readOrder(services.orders, id).finally(() => services.close())
  return Date.parse(order?.updated_at ?? '')
}

describe('index load with a clock 4 years ahead', () => {
  it('index load with a clock 4 years ahead is rejected with both times, writes nothing, and leaves later changes stamped correctly', async () => {
    expect(await load(sourceOrder())).toMatchObject({ code: 0 })
    const rejected = await loadSkewed(sourceOrder({ id: 'ord_2' }), FOUR_YEARS_MS)
    expect(rejected).toMatchObject({ code: 1, stdout: '' })
    expect(rejected.stderr).toMatch(
      /nothing was written: the clock of this machine \(2\S+Z\) is 12614\d{4} s ahead of .*\(2\S+Z\); at most 5 s are allowed\. Set /,
    )
    expect(await load(sourceOrder({ id: 'ord_3' }))).toMatchObject({ code: 0 })
    await backend.refresh()
    expect(await updatedAt('ord_3')).toBeLessThanOrEqual(Date.now())
    expect(await status()).toMatchObject({ documents: 2, stamps_ahead_seconds: 0 })
  })

  it('index load with a clock 4 years ahead is rejected with --history too, because that mode validates dates against the clock', async () => {
    await load(sourceOrder())
    const future = new Date(Date.now() + FOUR_YEARS_MS / 2).toISOString()
    const history = JSON.stringify(sourceOrder({ id: 'ord_2', changed_at: future }))
    const rejected = await runSkewed(['index', 'load', '-'], history, FOUR_YEARS_MS)
    expect(rejected).toMatchObject({ code: 1, stdout: '' })
  })
})

it('index load with a clock some seconds ahead, or far behind, writes', async () => {
  expect(await loadSkewed(sourceOrder(), 3_000)).toMatchObject({ code: 0 })
  expect(await loadSkewed(sourceOrder({ id: 'ord_2' }), -3_600_000)).toMatchObject({ code: 0 })
  expect((await status()).documents).toBe(2)
})

it('index init --trust-clock accepts a clock step when no other machine writes', async () => {
  await loadSkewed(sourceOrder(), -3_600_000)
  const later = sourceOrder({ id: 'ord_2' })
  const accepted = await run(['index', 'init', '--trust-clock'])
  if (onServices) {
    expect(accepted).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('OpenSearch uses its own clock'),
    })
  } else expect(accepted.code).toBe(0)
  expect(await load(later)).toMatchObject({ code: 0 })
})

describe('an index stamped 4 years ahead', () => {
  const orders = [sourceOrder(), sourceOrder({ id: 'ord_2' })]
  beforeEach(async () => {
    await run(['keys', 'create', '--account', 'acc_1'])
    for (const order of orders) await load(order)
    await writeFutureTimestamps(backend, Date.now() + FOUR_YEARS_MS)
  })

  it('rejects writes, and index status prints the difference instead of a lag of 0 s', async () => {
    const { code, stderr } = await load(sourceOrder({ version: 2, amount_total: 1 }))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /the write timestamps of the index \(2\S+Z\) are 12614\d{4} s ahead of .*docker\/recovery.md/,
      ),
    })
    const { lag_seconds, stamps_ahead_seconds } = await status()
    expect(lag_seconds).toBeNull()
    expect(stamps_ahead_seconds).toBeGreaterThan(FOUR_YEARS_MS / 1000 - 60)

    const { stdout } = await run(['index', 'status', '--wait', '0s'])
    expect(stdout).toMatch(/^lag: +unknown: the newest change is stamped in the future$/m)
    expect(stdout).toMatch(/^timestamps ahead: +12614\d{4}(\.\d+)? s: docker\/recovery\.md/m)
  })

  it('an index stamped 4 years ahead is recovered as docker/recovery.md describes: recreated and loaded, with its keys kept', async () => {
    if (onServices) {
      const prefix = backend.env['INDEX_PREFIX']
      for (const index of ['orders-v*', 'order-heads-v*', 'writer-v*'])
        await opensearch('DELETE', `${prefix}${index}`)
    } else {
      for (const end of ['', '-wal', '-shm'])
        rmSync(`${backend.folder}/orders.db${end}`, { force: true })
    }
    // On the embedded store, the keys survive the loss. Every other command reports a lost index.
    const init = ['index', 'init', ...(onServices ? [] : ['--after-loss'])]
    expect(await run(init)).toMatchObject({ code: 0 })
    const loaded = await run(LOAD, orders.map((order) => JSON.stringify(order)).join('\n'))
    expect(JSON.parse(loaded.stdout)).toMatchObject({ written: 2, older: 0 })
    await backend.refresh()
    expect(await updatedAt('ord_1')).toBeLessThanOrEqual(Date.now())
    expect(await status()).toMatchObject({ documents: 2, stamps_ahead_seconds: 0 })
    expect((await run(['keys', 'list', '--account', 'acc_1'])).stdout).toContain('key_')
    expect((await run(['index', 'check'])).code).toBe(0)
  })
})
