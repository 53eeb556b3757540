import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import type { Order } from '../../src/orders/order.ts'
import { runCommand, startCommand } from '../support/cli/command.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import {
  createOrderGenerator,
  isVisible,
  type Version,
} from '../support/simulation/order-generator.ts'
import { walk } from '../support/simulation/walk.ts'
import { KILL_LOOP_LEASE } from '../support/stores/backend.ts'

const READER = 'acc_reader'
const LOADS = 12
const CHANGES_A_LOAD = 400

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

/**
 * Another process writes, is killed at random and restarts. This process pages through
 * `updated_at_asc` without end, as a BI job does: from the greatest `updated_at` it has received.
 */
it('a consumer that pages by updated_at_asc during concurrent writes misses no order', async () => {
  const random = createRandom(7, 0, 0)
  const { key } = await app.issue({ accountId: READER })
  const truth = new Map<string, Version>()
  const received = new Map<string, Order>()
  const writing = new AbortController()

  async function follow() {
    let since = ''
    while (!writing.signal.aborted) since = await catchUp(since)
    await catchUp(since)
  }
  async function catchUp(since: string) {
    const from = since === '' ? '' : `&updated_gte=${since}`
    const limit = random.pick([1, 7, 50, 100])
    const pages = await walk(app, key, `sort=updated_at_asc&limit=${limit}${from}`)
    const rows = pages.flatMap(({ data }) => data)
    for (const order of rows) received.set(order.id, order)
    // Orders without an initial fill never pass a filter on updated_at: only the full listing has
    // them.
    await pause(5)
    return rows.reduce((latest, { updated_at }) => maximum(latest, updated_at ?? ''), since)
  }

  const followed = follow()
  const generator = createOrderGenerator(random, READER, Date.parse('2026-03-01T12:00:00Z'))
  for (let round = 1; round <= LOADS; round++) {
    const versions = Array.from({ length: CHANGES_A_LOAD }, () => generator.change())
    for (const version of versions) truth.set(version.id, version)
    const input = versions.map((version) => `${JSON.stringify(version)}\n`).join('')
    if (round % 3 === 0) await killWhileLoading(input, random.between(150, 450))
    const { code, stderr } = await load(input)
    expect(code, stderr).toBe(0)
  }
  await app.refresh()
  writing.abort()
  await followed

  const seen = await walk(app, key, 'sort=updated_at_asc&limit=100')
  const listed = seen.flatMap(({ data }) => data)
  const expected = [...truth.values()].filter((version) => isVisible(version, READER))
  expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)))
  const dated = listed.filter(({ updated_at }) => updated_at !== null)
  expect(dated.map(({ id }) => received.get(id))).toEqual(dated)
})

function load(input: string) {
  return runCommand(['index', 'load', '-', '--live'], app.env, input)
}

async function killWhileLoading(input: string, afterMs: number) {
  const child = startCommand(['index', 'load', '-', '--live'], { ...app.env, ...KILL_LOOP_LEASE })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  await pause(afterMs)
  child.kill('SIGKILL')
}

function maximum(one: string, other: string): string {
  return one > other ? one : other
}
