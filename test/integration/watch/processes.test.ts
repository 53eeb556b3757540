import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { FoundView } from '../../../src/orders/order-store.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { runCommand } from '../../support/cli/command.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend, EXPIRING_LEASE } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

let backend: Backend
let feed: ChangeFeed
let services: Services
let watches: WatchProcess[]
beforeEach(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  services = await openServices(parseConfig(backend.env))
  watches = []
})
afterEach(async () => {
  for (const watch of watches) watch.signal('SIGCONT')
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await services.close()
  await feed.close()
  await backend.remove()
})

/** The first process is the writer, with these settings; the others are standbys. */
async function startWatches(count: number, env: Record<string, string> = {}) {
  for (let n = 0; n < count; n++) {
    const watch = startWatch({ ...backend.env, ...(n === 0 && env) })
    watches.push(watch)
    await (n === 0 ? watch.becomesWriter() : watch.standsBy())
  }
  return watches as [WatchProcess, WatchProcess, ...WatchProcess[]]
}

const COUNT = 200
const versions = (version: number) =>
  Array.from({ length: COUNT }, (_, n) =>
    sourceOrder({ id: `ord_${n}`, version, amount_total: version }),
  )

/** The distinct amounts of the orders; -1 for a missing one. */
async function amounts(): Promise<number[]> {
  const keys = versions(1).map(({ id }) => ({ accountId: 'acc_1', orderId: id }))
  const views = await services.orders.getMany(keys)
  return [...new Set(views.map(amountOf))]
}

function amountOf(view: FoundView): number {
  if (view === null) return -1
  if (view instanceof Error) throw view
  return JSON.parse(Buffer.from(view).toString()).amount_total
}

async function written(watch: WatchProcess): Promise<number> {
  return watch.metric('indexing_changes_total{outcome="written"}')
}

describe('several processes', () => {
  it('one of several processes writes and the others stand by', async () => {
    const [first, second, third] = await startWatches(3)
    await feed.add(...versions(1))
    await feed.allProcessed()
    expect(await written(first)).toBe(COUNT)
    for (const standby of [second, third]) {
      expect([
        await written(standby as WatchProcess),
        await standby?.metric('indexing_is_writer'),
      ]).toEqual([0, 0])
    }
  })

  it('one of several processes started together becomes the writer', async () => {
    watches = [1, 2, 3].map(() => startWatch(backend.env))
    await feed.add(...versions(1))
    await feed.allProcessed()
    const counts = await Promise.all(watches.map(written))
    expect(counts.sort((one, other) => one - other)).toEqual([0, 0, COUNT])
    expect(await amounts()).toEqual([1])
  })

  it('a stopping writer releases its lease immediately', async () => {
    const [first, second] = await startWatches(2, { WRITER_LEASE_MS: '100000' })
    expect(await first.stop('SIGTERM')).toBe(0)
    await second.becomesWriter()
    await feed.add(...versions(1))
    await feed.allProcessed()
    expect(await amounts()).toEqual([1])
  })

  it('a standby exits 0 on SIGTERM', async () => {
    const [, second] = await startWatches(2)
    expect(await second.stop('SIGINT')).toBe(0)
  })

  it('a standby takes over from a killed writer and writes its pending entries', async () => {
    const [first, second] = await startWatches(2, EXPIRING_LEASE)
    await feed.add(...versions(1))
    await first.stop('SIGKILL')
    await feed.add(...versions(2))
    await second.becomesWriter()
    await feed.allProcessed()
    expect(await amounts()).toEqual([2])
  })

  it('a resumed frozen writer writes nothing and stands by, and no change is lost', async () => {
    const [first, second] = await startWatches(2, EXPIRING_LEASE)
    await feed.add(...versions(1))
    first.signal('SIGSTOP')
    await second.becomesWriter()
    await feed.add(...versions(2))
    await feed.allProcessed()
    const before = await written(second)

    first.signal('SIGCONT')
    // It detects the lost lease at its next write, so the stream needs an entry.
    const standby = first.waitForLog('another writer took over')
    for (let version = 3; ; version++) {
      await feed.add(...versions(version))
      await feed.allProcessed()
      expect(await amounts()).toEqual([version])
      expect(await written(second)).toBe(before + (version - 2) * COUNT)
      if (first.log().some(({ msg }) => msg.includes('another writer took over'))) break
    }
    await standby
    await first.standsBy()
    expect(await feed.deadLetters()).toEqual([])
  })

  it('a resumed frozen writer takes over when its successor exits', async () => {
    const [first, second] = await startWatches(2, EXPIRING_LEASE)
    first.signal('SIGSTOP')
    await second.becomesWriter()
    first.signal('SIGCONT')
    await feed.add(...versions(1))
    await feed.allProcessed()
    await second.stop('SIGTERM')
    await feed.add(...versions(2))
    await feed.allProcessed()
    expect(await amounts()).toEqual([2])
  })
})

describe('a load beside a watch', () => {
  it('a load is rejected during a watch and names --stream', async () => {
    await startWatches(1)
    const { code, stderr } = await runCommand(['index', 'load', '-'], backend.env, '')
    expect(code).toBe(1)
    expect(stderr).toContain('index load --stream')
  })
})
