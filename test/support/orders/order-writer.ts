import type { ValidationError } from '../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import type { WriteResult } from '../../../src/indexing/writer/decide.ts'
import type { WriteMode } from '../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { createMemoryOrderIndex } from '../stores/memory-order-index.ts'
import { changeOf } from './changes.ts'
import { sourceOrder, sourcePayment } from './source-order.ts'

/** The time of the writer's clock: after every `changed_at` and before every write timestamp. */
export const NOW = Date.parse('2026-04-01T00:00:00Z')

export type Version = Omit<Partial<SourceOrder>, 'deleted'> & { deleted?: true }

const source = (version: number, { deleted, ...given }: Version) => {
  if (deleted === undefined) return sourceOrder({ version, ...given })
  return { id: 'ord_1', version, owner_account_id: given.owner_account_id ?? 'acc_1', deleted }
}

/** A writer over an index in memory, and shorthands for the order `ord_1` of `acc_1`. */
export function startWriter() {
  const index = createMemoryOrderIndex()
  let nowMs = NOW
  const clock = () => nowMs
  const writer = createWriter(index, clock)
  const repairing = createWriter(index, clock, { equalVersions: 'repair' })
  const rewriting = createWriter(index, clock, { equalVersions: 'rewrite' })
  const reprojecting = createWriter(index, clock, { equalVersions: 'reproject' })

  async function put(
    version: number,
    given: Version,
    mode: WriteMode,
    by = writer,
  ): Promise<WriteResult> {
    const [result] = await by.write([changeOf(source(version, given))], mode)
    if (result === undefined) throw new Error('the writer returned no result')
    return result
  }

  async function crash(items: number, version: number, given: Version, mode: WriteMode) {
    index.failsAfter = items
    await put(version, given, mode).catch(() => {})
    index.failsAfter = Infinity
  }

  return {
    index,
    writer,
    /** Sets the writer's clock. */
    setClock(epochMs: number) {
      nowMs = epochMs
    },
    /** Writes one version of the order live. */
    live: (version: number, given: Version = {}) => put(version, given, 'live'),
    /** Writes one version of the order as history. */
    history: (version: number, given: Version = {}) => put(version, given, 'history'),
    /** Writes one version, and updates its documents of an older schema version. */
    reproject: (version: number, given: Version = {}, mode: WriteMode = 'live') =>
      put(version, given, mode, reprojecting),
    /** Writes one version, and repairs its documents. */
    repair: (version: number, given: Version = {}) => put(version, given, 'live', repairing),
    /** Writes one version after a loss, and announces only what was changed since this instant. */
    recover: (version: number, announceSinceMs: number, given: Version = {}) =>
      put(
        version,
        given,
        'live',
        createWriter(index, clock, { equalVersions: 'repair', announceSinceMs }),
      ),
    /** Writes one version, and its dated documents again. */
    rewrite: (version: number, given: Version = {}) => put(version, given, 'live', rewriting),
    /** Writes one version, and fails after this number of items. */
    crashAfter: (items: number, version: number, given: Version = {}) =>
      crash(items, version, given, 'live'),
    /** Writes one version as history, and fails after this number of items. */
    crashHistoryAfter: (items: number, version: number, given: Version = {}) =>
      crash(items, version, given, 'history'),
    order: (accountId = 'acc_1') => index.order(accountId, 'ord_1'),
    updatedAt: (accountId = 'acc_1') => index.order(accountId, 'ord_1')?.updated_at,
  }
}

/** The path of a validation error; any other result unchanged. */
export const pathOf = (result: WriteResult): string =>
  typeof result === 'object' ? (result satisfies ValidationError).path : result

/** An invisible order: its only payment never reached a bank. */
export const INVISIBLE: Version = { payments: [sourcePayment({ status: 'FAILED' })] }
