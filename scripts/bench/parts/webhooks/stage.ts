import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../../../src/indexing/projection/change.ts'
import { createWriter, type Writer } from '../../../../src/indexing/writer/writer.ts'
import type { Services } from '../../../../src/services.ts'
import { poll } from '../../../../test/harness/processes/poll.ts'
import {
  type RunningService,
  type Settings,
  startService,
} from '../../../../test/harness/processes/service.ts'
import type { BenchContext } from '../../context.ts'
import { inChunks, openEmbedded, openStores } from '../../orders/stores.ts'
import { createNewOrders, type NewOrders } from './new-orders.ts'

export const stageKinds = ['embedded', 'OpenSearch'] as const
export type StageKind = (typeof stageKinds)[number]

/** Stores of their own with a dispatcher that can be started. */
export interface Stage {
  kind: StageKind
  settings: Settings
  services: Services
  orders: NewOrders
  /** The writer of the stage, opened by the first call: add the endpoints before it. */
  writer(): Promise<Writer>
  /** Starts the process that delivers, and waits until it may. Its disposal stops it gracefully. */
  startDispatcher(): Promise<RunningService>
}

const WEBHOOK_KID = 'k1'
const WRITE_CHUNK = 500
const STOP_MS = 30_000
/** In the log of each process that delivers, once it may. */
const DELIVERS = /this process delivers webhooks now/

/** Opens new stores; the scope removes them. */
export async function openStage(
  context: Pick<BenchContext, 'settings' | 'prefix' | 'cluster'>,
  kind: StageKind,
  scope: AsyncDisposableStack,
): Promise<Stage> {
  const secret = randomBytes(32).toString('base64')
  const shared = {
    ...context.settings,
    WEBHOOK_SECRETS: `${WEBHOOK_KID}:${secret}`,
    WEBHOOK_ALLOW: '127.0.0.1',
  }
  const { settings, services } =
    kind === 'embedded'
      ? await openEmbedded(shared, scope)
      : await openIndices(context, shared, scope)
  const args = kind === 'embedded' ? ['serve'] : ['webhooks', 'deliver']
  const opening = new AsyncDisposableStack()
  scope.use(opening)
  let writer: Promise<Writer> | undefined

  async function openWriter(): Promise<Writer> {
    const index = await services.openIndex()
    opening.defer(() => index.close())
    return createWriter(index, index.now)
  }

  return {
    kind,
    settings,
    services,
    orders: createNewOrders(Date.now()),
    writer() {
      writer ??= openWriter()
      return writer
    },
    async startDispatcher() {
      const service = await startService({ args, settings, awaited: [DELIVERS] })
      return { ...service, [Symbol.asyncDispose]: () => stop(service) }
    },
  }
}

async function openIndices(
  { cluster, prefix }: Pick<BenchContext, 'prefix' | 'cluster'>,
  shared: Settings,
  scope: AsyncDisposableStack,
) {
  const own = `${prefix}webhooks-${randomBytes(4).toString('hex')}-`
  const settings = { ...shared, INDEX_PREFIX: own, REDIS_PREFIX: own }
  scope.defer(() => cluster.remove(own))
  const services = await openStores(settings, scope)
  await services.initialize()
  return { settings, services }
}

/** A killed process keeps its lease until it expires, which would delay the next one. */
async function stop(service: RunningService): Promise<void> {
  const isRunning = () => {
    try {
      return process.kill(service.pid, 0)
    } catch {
      return false
    }
  }
  try {
    process.kill(service.pid, 'SIGTERM')
    await poll(
      async () => !isRunning(),
      async () => 'the process that delivers did not stop',
      { timeoutMs: STOP_MS, intervalMs: 20, shouldAbort: () => false },
    )
  } finally {
    await service[Symbol.asyncDispose]()
  }
}

/** Writes live changes in bulks, one after another. */
export async function writeChanges(
  stage: Stage,
  changes: Iterable<Change>,
  signal: AbortSignal,
): Promise<void> {
  const writer = await stage.writer()
  for (const chunk of inChunks(changes, WRITE_CHUNK)) {
    signal.throwIfAborted()
    await writer.write(chunk, 'live')
  }
}

/**
 * Writes live changes at a rate, all that are due in one bulk as a watch does. Returns when each
 * order was confirmed, epoch milliseconds with fractions.
 */
export async function writeAtPace(
  stage: Stage,
  changes: readonly Change[],
  { rate, signal }: { rate: number; signal: AbortSignal },
): Promise<Map<string, number>> {
  const writer = await stage.writer()
  const confirmedAt = new Map<string, number>()
  const startedAt = performance.now()
  for (let written = 0; written < changes.length; ) {
    await sleep(1, undefined, { signal })
    const due = Math.floor((rate * (performance.now() - startedAt)) / 1000)
    const bulk = changes.slice(written, due)
    if (bulk.length === 0) continue
    await writer.write(bulk, 'live')
    const now = performance.timeOrigin + performance.now()
    for (const { orderId } of bulk) confirmedAt.set(orderId, now)
    written += bulk.length
  }
  return confirmedAt
}
