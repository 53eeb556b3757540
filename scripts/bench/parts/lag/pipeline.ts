import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCaFile } from '../../../../src/config/ca-file.ts'
import { type Config, parseConfig } from '../../../../src/config/config.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { connectStream } from '../../../../src/stores/redis/stream-connection.ts'
import { openScratch } from '../../../../test/harness/processes/scratch.ts'
import { readMetric, startApi, startService } from '../../../../test/harness/processes/service.ts'
import { percentile } from '../../../../test/harness/statistics.ts'
import type { BenchContext } from '../../context.ts'
import { createLoadClient } from '../../measuring/load.ts'
import { runLoad, writeLines } from '../../measuring/load-command.ts'
import { atPace } from '../../measuring/pace.ts'
import { differencePer } from '../../measuring/race.ts'
import { type AccessMap, accessTo } from '../../orders/pages.ts'
import { openStores } from '../../orders/stores.ts'
import type { Sample } from '../../report.ts'
import { createChanges, FOLLOWED_ACCOUNTS } from './changes.ts'
import { createLagLedger, type LagLedger, type LedgerFigures, type ShownOrder } from './ledger.ts'

/** Everything runs for the first time then. */
export const WARM_UP_SECONDS = 5
/** Between the end of a listing and the next request: it adds to the lag. */
const POLL_MS = 100
const LIMIT = 100
/** A change that is not shown by then counts as missed. */
const TIMEOUT_MS = 120_000
const CHECK_MS = 50

/** Starts a watch, an API and followers on indices of their own, filled with orders. */
export async function openLag(context: BenchContext, scope: AsyncDisposableStack) {
  const { cluster, options, prefix, signal, log } = context
  const { rate, loadOrders } = options
  const own = { INDEX_PREFIX: `${prefix}lag-`, REDIS_PREFIX: `${prefix}lag-` }
  const settings = { ...context.settings, ...own }
  const changes = createChanges(loadOrders, Date.now())
  scope.defer(() => cluster.remove(own.INDEX_PREFIX))
  // Closed after the watch, which would create the stream again.
  const feed = scope.use(await openFeed(parseConfig(settings)))
  log(`loading ${loadOrders} orders …`)
  const scratch = await openScratch('bench-lag')
  scope.defer(scratch.close)
  const file = join(scratch.path, 'orders.ndjson')
  const history = changes.history().map(({ json }) => json)
  await writeLines(file, history)
  const { read, written } = await runLoad(scratch, file, settings)
  if (read !== written) throw new Error(`the load wrote ${written} of ${read} orders`)
  const services = await openStores(settings, scope)
  const access = await accessTo(FOLLOWED_ACCOUNTS, services)
  const awaited = [/this is the writer now/]
  const watch = scope.use(await startService({ args: ['index', 'watch'], settings, awaited }))
  const api = scope.use(await startApi(settings))
  const ledger = createLagLedger(FOLLOWED_ACCOUNTS)
  followAll(api.origin, access, ledger, scope)
  const readCpu = async () => ({
    ...(await context.readCpu()),
    processMicros: await api.cpuMicros(),
    watchMicros: await watch.cpuMicros(),
  })

  return {
    services,

    /**
     * Sends changes for so many seconds, then waits until the latest version of every order was
     * shown.
     */
    async measure(seconds: number): Promise<Sample> {
      const cpuBefore = await readCpu()
      const startedAt = performance.now()
      let entries = 0
      await atPace({ rate, seconds, signal }, async (due) => {
        const added = due.map(() => changes.next())
        for (const change of added) ledger.sent(change, performance.now())
        await feed.add(added)
        entries += added.length
      })
      const perSecond = (1000 * entries) / (performance.now() - startedAt)
      const cpu = differencePer(entries, cpuBefore, await readCpu())
      const backlog = readMetric(await watch.metrics(), 'indexing_stream_backlog')
      const endsAt = performance.now() + TIMEOUT_MS
      while (ledger.due() > 0 && performance.now() < endsAt)
        await sleep(CHECK_MS, undefined, { signal })
      return { ...lagFigures(ledger.take()), perSecond, backlog, ...cpu }
    },
  }
}

/** Adds changes to the stream, as the platform does. */
async function openFeed(config: Config) {
  const { send, stream, deadLetterStream, close } = await connectStream({
    urls: config.redisUrls ?? [],
    ca: readCaFile('REDIS_CA_FILE', config.redisCaFile),
    prefix: config.redisPrefix,
  })
  return {
    async add(changes: readonly { json: string }[]): Promise<void> {
      await send((redis) =>
        Promise.all(changes.map(({ json }) => redis.xadd(stream, '*', 'order', json))),
      )
    },

    /** Removes the stream and its dead letters. */
    async [Symbol.asyncDispose]() {
      try {
        for (const key of [stream, deadLetterStream]) await send((redis) => redis.del(key))
      } finally {
        close()
      }
    },
  }
}

interface Page {
  data: (ShownOrder & { updated_at: string })[]
  next_cursor: string | null
}

/**
 * Follows every account until the end of the scope, by `updated_at_asc` as the guide advises:
 * repeatedly from the greatest `updated_at`.
 */
function followAll(
  origin: string,
  access: AccessMap,
  ledger: LagLedger,
  scope: AsyncDisposableStack,
): void {
  const client = scope.use(createLoadClient({ origins: [origin] }, access.size))
  const ending = new AbortController()
  const from = formatInstant(Date.now())

  async function follow(accountId: string, key: string): Promise<void> {
    let greatest = from
    const readToEnd = async () => {
      const listing = { sort: 'updated_at_asc', updated_gte: greatest, limit: `${LIMIT}` }
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = new URLSearchParams({ ...listing, ...(cursor && { cursor }) })
        const headers = { authorization: `Bearer ${key}` }
        const bytes = await client.fetch({ method: 'GET', path: `/v1/orders?${query}`, headers })
        const atMs = performance.now()
        const page: Page = JSON.parse(bytes.toString())
        ledger.shown(accountId, page.data, atMs)
        greatest = page.data.at(-1)?.updated_at ?? greatest
        cursor = page.next_cursor
      }
    }
    while (!ending.signal.aborted) {
      await readToEnd().catch((error) => ledger.failed(String(error)))
      await sleep(POLL_MS, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  const following = [...access].map(([accountId, { key }]) => follow(accountId, key))
  scope.defer(async () => {
    ending.abort()
    await Promise.all(following)
  })
}

export function lagFigures({ lagsMs, overtaken, failures }: LedgerFigures): Sample {
  const at = (share: number) => percentile(lagsMs, share)
  const lags = { p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) }
  return { answers: lagsMs.length, changes: lagsMs.length, overtaken, failures, ...lags }
}
