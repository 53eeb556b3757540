import {
  type Change,
  isValidationError,
  parseChange,
} from '../../../src/indexing/projection/change.ts'
import { LOAD_BATCH } from '../../../src/indexing/sources/load.ts'
import { decideBulk } from '../../../src/indexing/writer/decide-bulk.ts'
import { toVersionRecordSource } from '../../../src/stores/opensearch/version-record-document.ts'
import { linesOf } from './orders.ts'
import { inChunks } from './stores.ts'

/** The bodies of the two bulk requests with which a load writes a batch. */
export interface LoadBulks {
  documents: Buffer
  versionRecords: Buffer
}

const NOTHING_READ = {
  records: new Map(),
  events: new Map(),
  subscribers: new Map(),
  decided: new Map(),
  stored: [],
}

/** Renders what a load of history writes into an empty index, from its source orders. */
export function* loadBulks(sources: readonly string[]): Generator<LoadBulks> {
  const nowMs = Date.now()
  let writeTimestamp = nowMs
  for (const changes of inChunks(firstVersions(sources), LOAD_BATCH.entries)) {
    const orders = { ...NOTHING_READ, nowMs }
    const options = { mode: 'history', policy: 'drop' } as const
    const { writes } = decideBulk(changes, orders, new Map(), options)
    writeTimestamp += 1
    const documents = writes.views.map((view) => linesOf(view, writeTimestamp))
    const versionRecords = writes.versionRecords.map((record) => {
      const action = { create: { _id: record.orderId } }
      return `${JSON.stringify(action)}\n${JSON.stringify(toVersionRecordSource(record))}\n`
    })
    yield {
      documents: Buffer.from(documents.join('')),
      versionRecords: Buffer.from(versionRecords.join('')),
    }
  }
}

/** Demo orders repeat some versions, which a load drops. */
function* firstVersions(sources: readonly string[]): Generator<Change> {
  const seen = new Set<string>()
  for (const source of sources) {
    const change = parseChange(source)
    if (isValidationError(change)) throw new Error(`a demo order is invalid at ${change.path}`)
    if (seen.has(change.orderId)) continue
    seen.add(change.orderId)
    yield change
  }
}
