import { demoApiKey, keyDigest } from '../auth/api-key.ts'
import { inactiveReason } from '../auth/inactive-reason.ts'
import { issueKey } from '../auth/issue-key.ts'
import { load } from '../indexing/sources/load.ts'
import { createWriter } from '../indexing/writer/writer.ts'
import { wallClock } from '../lib/clock.ts'
import type { Services } from '../services.ts'
import { DEMO_ACCOUNT } from './accounts.ts'
import { demoOrders } from './demo-orders.ts'

const COUNT = 3_000
const SEED = 1

/** The keys of the demo account. */
export interface DemoKeys {
  live: string
  /** Reads the sandbox, which is empty at first. */
  test: string
}

/**
 * Indexes demo orders up to `untilMs` and returns the keys of the demo account. The live key is
 * stored last, so that its presence marks a complete seed.
 * @throws Error when an order is rejected, or a key was revoked
 */
export async function seedDemo(services: Services, untilMs: number): Promise<DemoKeys> {
  await services.initialize()
  const { keyPepper } = services
  const keys = { live: demoApiKey(keyPepper), test: demoApiKey(keyPepper, 'test') }
  const grant = { accountId: DEMO_ACCOUNT, scopes: ['orders:read' as const], expiresAt: null }
  if (!(await isIssued(services, keys.test, untilMs))) {
    const name = 'demo sandbox'
    await issueKey(services, { ...grant, name, isTest: true }, untilMs, { key: keys.test })
  }
  if (await isIssued(services, keys.live, untilMs)) return keys

  const index = await services.openIndex()
  await load(ndjson(demoOrders({ count: COUNT, seed: SEED, until: untilMs })), {
    writer: createWriter(index, wallClock),
    mode: 'history',
    onRejected: (line, { path, reason }) => {
      throw new Error(`demo order ${line} was rejected: ${path}: ${reason}`)
    },
    onProgress: () => {},
  }).finally(() => index.close())
  await issueKey(services, { ...grant, name: 'demo' }, untilMs, { key: keys.live })
  return keys
}

/** @throws Error when the key is no longer valid */
async function isIssued(services: Services, key: string, nowMs: number): Promise<boolean> {
  const found = await services.keys.find(keyDigest(services.keyPepper, key))
  const reason = found && inactiveReason(found.key, nowMs)
  if (!reason) return found !== null
  const isTest = found.key.isTest ? 'test ' : ''
  throw new Error(
    `the demo ${isTest}key is ${reason}: serve without --demo, or with a new data folder`,
  )
}

async function* ndjson(values: Iterable<unknown>): AsyncGenerator<Buffer> {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}
