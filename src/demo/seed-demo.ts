import { demoApiKey, keyDigest } from '../auth/api-key.ts'
import { inactiveReason, issueKey } from '../auth/keys.ts'
import { load } from '../indexing/sources/load.ts'
import { createWriter } from '../indexing/writer/writer.ts'
import { wallClock } from '../lib/clock.ts'
import type { Services } from '../services.ts'
import { DEMO_ACCOUNT, demoOrders } from './demo-orders.ts'

const COUNT = 3_000
const SEED = 1

/**
 * Indexes demo orders up to `untilMs` and returns the key of the demo account. The key is stored
 * last, so that its presence marks a complete seed.
 * @throws Error when an order is rejected, or the key was revoked
 */
export async function seedDemo(services: Services, untilMs: number): Promise<string> {
  await services.initialize()
  const key = demoApiKey(services.keyPepper)
  const existing = await services.keys.find(keyDigest(services.keyPepper, key))
  const reason = existing && inactiveReason(existing.key, untilMs)
  if (reason)
    throw new Error(`the demo key is ${reason}: serve without --demo, or with a new data folder`)
  if (existing !== null) return key

  const index = await services.openIndex()
  await load(ndjson(demoOrders({ count: COUNT, seed: SEED, until: untilMs })), {
    writer: createWriter(index, wallClock),
    mode: 'back-fill',
    onRejected: (line, { path, reason }) => {
      throw new Error(`demo order ${line} was rejected: ${path}: ${reason}`)
    },
    onProgress: () => {},
  }).finally(() => index.close())
  const grant = { accountId: DEMO_ACCOUNT, scopes: ['orders:read' as const], name: 'demo' }
  await issueKey(services, { ...grant, expiresAt: null }, untilMs, key)
  return key
}

async function* ndjson(values: Iterable<unknown>): AsyncGenerator<Buffer> {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}
