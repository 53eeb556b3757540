import { randomBytes } from 'node:crypto'
import { issueKey } from '../../../src/auth/issue-key.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { load } from '../../../src/indexing/sources/load.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../src/lib/clock.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { connectOpenSearch } from '../../../src/stores/opensearch/client/client.ts'
import { createCluster } from '../services/opensearch/cluster-administration.ts'
import { createOracle, type Oracle } from './oracle.ts'
import type { TrafficKeys } from './traffic.ts'

/** Orders and keys in the stores, and the expected responses. */
export interface SeededData {
  truth: Oracle
  keys: TrafficKeys
}

type Settings = Readonly<Record<string, string>>

const ORDERS = 400
const SEED = 1
/** Enough that pages start, end and fall within them: the tail of `updated_at_asc`. */
const EVERY_NTH_UNDATED = 5
const REFRESH_MS = 1_500
const YEAR_MS = 365 * 86_400_000

const secret = () => randomBytes(32).toString('base64')

/** The settings of a private service on these stores; it trusts `X-Forwarded-For`. */
export function seedSettings(services: Settings): Settings {
  const prefix = `traffic-${randomBytes(4).toString('hex')}-`
  return {
    ...services,
    INDEX_PREFIX: prefix,
    REDIS_PREFIX: prefix,
    CURSOR_SECRETS: `k1:${secret()}`,
    KEY_PEPPER: secret(),
    TRUST_PROXY: '127.0.0.1',
  }
}

/** Loads orders of several accounts and issues their keys. */
export async function seedServices(settings: Settings): Promise<SeededData> {
  const services = await openServices(parseConfig(settings))
  try {
    const sources = [...generateOrders()]
    await loadAll(services, sources)
    const truth = createOracle(sources)
    return { truth, keys: await issueKeys(services, truth) }
  } finally {
    await services.close()
  }
}

/** Deletes all OpenSearch indices of these settings; counters in Redis expire. */
export async function removeSeed(settings: Settings): Promise<void> {
  const { opensearchUrls: urls = [], indexPrefix } = parseConfig(settings)
  const client = connectOpenSearch({ urls })
  try {
    await createCluster(client).remove(indexPrefix)
  } finally {
    await client.close()
  }
}

function* generateOrders(): Generator<SourceOrder> {
  let index = 0
  for (const order of demoOrders({ count: ORDERS, seed: SEED, until: Date.now() })) {
    yield index++ % EVERY_NTH_UNDATED === 0 ? { ...order, changed_at: null } : order
  }
}

async function loadAll(services: Services, sources: readonly SourceOrder[]): Promise<void> {
  await services.initialize()
  const index = await services.openIndex()
  const lines = async function* () {
    for (const source of sources) yield Buffer.from(`${JSON.stringify(source)}\n`)
  }
  const { written } = await load(lines(), {
    writer: createWriter(index, wallClock),
    mode: 'history',
    onRejected(line, { path, reason }) {
      throw new Error(`line ${line}: ${path}: ${reason}`)
    },
    onProgress() {},
  }).finally(() => index.close())
  if (written === 0) throw new Error('nothing was loaded')
  await new Promise((refreshed) => setTimeout(refreshed, REFRESH_MS))
}

async function issueKeys(services: Services, { accountIds }: Oracle): Promise<TrafficKeys> {
  const now = Date.now()
  const issue = async (accountId: string, scopes: readonly 'orders:read'[], issuedAt = now) => {
    const expiresAt = issuedAt + YEAR_MS
    return await issueKey(services, { accountId, scopes, name: null, expiresAt }, issuedAt)
  }
  const accounts = new Map<string, string>()
  for (const accountId of accountIds) {
    accounts.set(accountId, (await issue(accountId, ['orders:read'])).key)
  }
  const revoked = await issue(DEMO_ACCOUNT, ['orders:read'])
  await services.keys.update(revoked.record.digest, { revokedAt: now })
  const expired = await issue(DEMO_ACCOUNT, ['orders:read'], now - 2 * YEAR_MS)
  const scopeless = await issue(DEMO_ACCOUNT, [])
  return { accounts, ended: [revoked.key, expired.key], scopeless: scopeless.key }
}
