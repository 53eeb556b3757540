import { setTimeout as pause } from 'node:timers/promises'
import { type WalkedHit, walkDocuments } from '../document-walk.ts'
import { renderAnew } from '../order-source.ts'
import { atStamp } from '../writer/known-states.ts'
import {
  type DocumentsOptions,
  readDocuments,
  readWrittenKeys,
  type StampedDocument,
  sendItems,
} from './documents.ts'
import { type Patience, patiently } from './patience.ts'

export interface CopyOptions extends DocumentsOptions, Patience {
  /** The index that is read, and the one that is to have the same. */
  from: string
  to: string
  /** The alias of `to` for this alone: once it is gone, a copy that comes late goes nowhere. */
  alias: string
  /** Told after every page how many documents it had. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500
/** An order may have megabytes. */
const DOCUMENTS_AT_A_TIME = 100

/**
 * Copies what `to` does not have, or has in an older version, and tells how many documents that were. The
 * stamp of a document is its version: what a writer wrote or removed meanwhile is newer, and stays.
 */
export async function copyMissing(options: CopyOptions): Promise<number> {
  const { from, to, onPage, signal } = options
  let copied = 0
  for await (const page of walk(options, from)) {
    const missing = await patiently(options, async () => {
      const there = await readWrittenKeys(options, to, page)
      return page.filter(({ writtenKey }, at) => (there[at] ?? -1) < writtenKey)
    })
    for (let at = 0; at < missing.length; at += DOCUMENTS_AT_A_TIME) {
      const some = missing.slice(at, at + DOCUMENTS_AT_A_TIME)
      copied += await patiently(options, () => copy(options, some))
    }
    signal?.throwIfAborted()
    onPage(page.length)
  }
  return copied
}

/**
 * Removes from `to` what `from` does not have, and tells how many documents that were. Writers write to
 * `to` first: what is about to be in `from` too is left.
 */
export async function removeExtras(options: CopyOptions, settleMs: number): Promise<number> {
  const { from, to, signal } = options
  let removed = 0
  for await (const page of walk(options, to)) {
    const extras = await patiently(options, () => absent(options, from, page))
    if (extras.length === 0) continue
    await pause(settleMs, undefined, { signal })
    removed += await patiently(options, async () =>
      remove(options, await absent(options, from, extras)),
    )
  }
  return removed
}

async function* walk(options: CopyOptions, index: string): AsyncGenerator<StampedDocument[]> {
  const attempt = <T>(work: () => Promise<T>) => patiently(options, work)
  const wanted = { _source: false, docvalue_fields: ['written_key'] }
  const pages = walkDocuments({ ...options, index, pageSize: PAGE_SIZE, wanted, attempt })
  for await (const page of pages) yield page.map(stamped)
}

function stamped({ _id, _routing, fields }: WalkedHit): StampedDocument {
  const writtenKey = fields?.['written_key']?.[0]
  if (typeof _routing === 'string' && typeof writtenKey === 'number') {
    return { _id, _routing, writtenKey }
  }
  throw new Error(`the document ${_id} lacks a key field: "index check" tells which are like it`)
}

async function absent(
  options: CopyOptions,
  index: string,
  documents: readonly StampedDocument[],
): Promise<StampedDocument[]> {
  const there = await readWrittenKeys(options, index, documents)
  return documents.filter((_, at) => there[at] === null)
}

async function copy(options: CopyOptions, documents: readonly StampedDocument[]): Promise<number> {
  const sources = await readDocuments(options, options.from, documents)
  const lines = documents.flatMap(({ _id, _routing }, at) => {
    const source = sources[at]
    if (source === null) return [] // Removed since it was found.
    const stamp = Number(Object(source)['written_key'])
    const action = { index: { _id, routing: _routing, ...atStamp(stamp) } }
    return [`${JSON.stringify(action)}\n${renderAnew(source)}\n`]
  })
  return sendItems(options, options.alias, lines)
}

/** Each in the state of now. */
async function remove(
  options: CopyOptions,
  documents: readonly StampedDocument[],
): Promise<number> {
  return sendItems(
    options,
    options.alias,
    documents.map(({ _id, _routing, writtenKey }) => {
      // The next stamp: a document that was written anew meanwhile has that one, or a later one.
      const action = { delete: { _id, routing: _routing, ...atStamp(writtenKey + 1) } }
      return `${JSON.stringify(action)}\n`
    }),
  )
}
