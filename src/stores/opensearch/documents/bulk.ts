import { createRetryBudget } from '../../../lib/retry-until-deadline.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { write } from '../client/client.ts'
import { type DocumentState, documentState } from '../client/documents.ts'
import { NOT_FOUND } from '../client/errors.ts'
import { firstChunk } from '../write/bulk-request.ts'
import {
  type BulkItemResult,
  describeResult,
  outcomeOf,
  parseBulkResponse,
} from '../write/bulk-response.ts'
import {
  type FoundDocument,
  type IndexTarget,
  newestSeqNo,
  refreshIndex,
  searchPages,
} from './search.ts'

/** An action of a bulk, with its document except for a deletion. */
export interface BulkItem {
  action: object
  source?: object
}

/** The outcome of an item: the new state, or why nothing was written. */
export type BulkItemState = DocumentState | 'conflict' | 'missing'

type ItemResult = BulkItemResult & { _seq_no?: number; _primary_term?: number }

const FILTER_PATH = ['status', 'error', '_seq_no', '_primary_term'].map(
  (field) => `items.*.${field}`,
)
const DOCUMENT_MISSING = 'document_missing_exception'

/**
 * Sends the items in few large requests. Items that met a full queue are sent again within the
 * deadline of one request.
 * @throws Unavailable when the outcome of an item is unknown; Error when OpenSearch rejects one
 */
export async function sendItems(
  { client, index, deadlineMs }: IndexTarget,
  items: readonly BulkItem[],
): Promise<BulkItemState[]> {
  const states = new Map<BulkItem, BulkItemState>()
  const budget = createRetryBudget({
    deadlineMs,
    backoff: { firstMs: 50 },
    activity: 'OpenSearch rejected bulks for full queues',
  })
  for (let pending = items; pending.length > 0; ) {
    const lines = firstChunk(pending, linesOf)
    const sent = pending.slice(0, lines.length)
    const results = await sendChunk(lines)
    const rejected = sent.filter((item, at) => {
      const result = results[at]
      const state = result && stateOf(result)
      if (state !== undefined) states.set(item, state)
      return state === undefined
    })
    pending = [...rejected, ...pending.slice(sent.length)]
    if (rejected.length > 0) {
      await budget.backOff(new Unavailable(`the write queue of OpenSearch is full for ${index}`))
    }
  }
  return items.map((item) => states.get(item) ?? 'missing')

  async function sendChunk(lines: readonly string[]): Promise<ItemResult[]> {
    const request = {
      index,
      require_alias: true,
      filter_path: FILTER_PATH,
      body: lines.join('') as never,
    }
    const response = await write(deadlineMs, (options) => client.bulk(request, options))
    return parseBulkResponse(response, lines.length)
  }

  /** `undefined` when the item can be sent again. */
  function stateOf(result: ItemResult): BulkItemState | undefined {
    const { status, error } = result
    const state = documentState(result)
    const outcome = outcomeOf(result)
    if (outcome === 'overloaded') return undefined
    if (outcome === 'conflict') return 'conflict'
    if (status === NOT_FOUND && (error === undefined || error.type === DOCUMENT_MISSING))
      return 'missing'
    if (outcome === 'accepted' && state !== null) return state
    const description = `OpenSearch did not write a document of ${index}: ${describeResult(result)}`
    throw outcome === 'unmapped' || outcome === 'invalid'
      ? new Error(description)
      : new Unavailable(description)
  }
}

function linesOf({ action, source }: BulkItem): string {
  const line = `${JSON.stringify(action)}\n`
  return source === undefined ? line : `${line}${JSON.stringify(source)}\n`
}

/** Sources of these documents are in memory at a time. */
const PAGE_SIZE = 1_000

/**
 * Writes what `itemOf` returns for each document that matches: an item that has the document's state
 * as its condition, or `null` for none. Documents that change meanwhile are visited again; each is
 * written once at most. Returns the number of written documents, which searches then see.
 * @throws like {@link sendItems}; a repetition continues the work
 */
export async function writeMatching(
  target: IndexTarget,
  query: object,
  itemOf: (document: FoundDocument) => BulkItem | null,
): Promise<number> {
  const written = new Set<string>()
  for (let isDone = false; !isDone; ) {
    await refreshIndex(target)
    isDone = await writePass()
  }
  return written.size

  /** Visits what matched at its start. Whether it found nothing to write. */
  async function writePass(): Promise<boolean> {
    const newest = await newestSeqNo(target, query)
    if (newest === null) return true
    let isDone = true
    const bounded = { bool: { filter: [query, { range: { _seq_no: { lte: newest } } }] } }
    const search = { query: bounded, sort: [], pageSize: PAGE_SIZE }
    for await (const page of searchPages(target, search)) {
      const work = page.flatMap((document) => {
        const item = written.has(document.id) ? null : itemOf(document)
        return item === null ? [] : [{ id: document.id, item }]
      })
      if (work.length > 0) isDone = false
      const states = await sendItems(
        target,
        work.map(({ item }) => item),
      )
      work.forEach(({ id }, at) => {
        if (states[at] !== 'conflict') written.add(id)
      })
    }
    return isDone
  }
}

/** Removes the documents that match. Those that change meanwhile stay if they no longer match. */
export async function removeMatching(target: IndexTarget, query: object): Promise<void> {
  await writeMatching(target, query, ({ id, state }) => ({
    action: { delete: { _id: id, ...state } },
  }))
}
