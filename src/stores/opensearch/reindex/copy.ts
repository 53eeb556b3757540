import { REPAIR, tellDamaged } from '../damage.ts'
import { newestStamp, type WalkedHit, walkDocuments } from '../document-walk.ts'
import { readSourceBytes } from '../documents.ts'
import { renderSource, storedOrder } from '../order-source.ts'
import { renderTombstone } from '../tombstone.ts'
import { atStamp } from '../writer/known-states.ts'
import {
  addressOf,
  type DocumentsOptions,
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
const DOCUMENTS_AT_A_TIME = 50

/** What a look at two indices found, and did. */
export interface Look {
  copied: number
  /** Documents that `to` still does not have: something newer of them is, or was, in it. */
  left: number
}

/**
 * Copies what `to` does not have, or has in an older version. The stamp of a document is its version: what a
 * writer wrote or removed meanwhile is newer, and stays.
 * @throws Error naming documents that are not as they were written: a copy would keep the damage
 */
export async function copyMissing(options: CopyOptions): Promise<Look> {
  const { from, onPage, signal } = options
  const look = { copied: 0, left: 0 }
  for await (const page of walk(options, from)) {
    const missing = await patiently(options, () => missingOf(options, page))
    for (let at = 0; at < missing.length; at += DOCUMENTS_AT_A_TIME) {
      const some = missing.slice(at, at + DOCUMENTS_AT_A_TIME)
      look.copied += await patiently(options, () => copy(options, some))
    }
    look.left += (await patiently(options, () => stillMissing(options, missing))).length
    signal?.throwIfAborted()
    onPage(page.length)
  }
  return look
}

/**
 * Removes from `to` what `from` does not have, and tells how many documents that were. Only what has an older
 * stamp than everything that is written from now on: writers write to `to` first, so what is newer is about
 * to be in `from`.
 */
export async function removeExtras(options: CopyOptions): Promise<number> {
  const { from, to, signal } = options
  const newest = await patiently(options, () => newestStamp({ ...options, index: from }))
  let removed = 0
  for await (const page of walk(options, to)) {
    const older = page.filter(({ writtenKey }) => writtenKey < newest)
    const extras = await patiently(options, () => absent(options, from, older))
    removed += await patiently(options, () => remove(options, extras))
    signal?.throwIfAborted()
  }
  return removed
}

async function missingOf(
  options: CopyOptions,
  documents: readonly StampedDocument[],
): Promise<StampedDocument[]> {
  const there = await readWrittenKeys(options, options.to, documents)
  return documents.filter(({ writtenKey }, at) => (there[at] ?? -1) < writtenKey)
}

/** Of those that were missing; one that was removed meanwhile is missing no more. */
async function stillMissing(
  options: CopyOptions,
  documents: readonly StampedDocument[],
): Promise<StampedDocument[]> {
  const missing = await missingOf(options, documents)
  const there = await readWrittenKeys(options, options.from, missing)
  return missing.filter((_, at) => there[at] !== null)
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
  const { client, deadlineMs, from } = options
  const docs = documents.map(addressOf)
  const sources = await readSourceBytes(client, deadlineMs, { index: from, docs })
  const damaged: string[] = []
  const items = docs.flatMap((address, at) => {
    const source = sources[at]
    if (!source) return [] // Removed since it was found.
    const document = storedOrder(source)
    if (document === null) {
      damaged.push(address._id)
      return []
    }
    const action = { index: { ...address, ...atStamp(document.writtenKey) } }
    return [`${JSON.stringify(action)}\n${renderSource(document)}\n`]
  })
  if (damaged.length > 0) {
    throw new Error(
      `${tellDamaged(from, damaged)}. ${REPAIR}. Then "index reindex" goes on; "--rollback" gives it up`,
    )
  }
  return sendItems(options, options.alias, items)
}

async function remove(
  options: CopyOptions,
  documents: readonly StampedDocument[],
): Promise<number> {
  const items = documents.map(({ _id, _routing, writtenKey }) => {
    // The next stamp: a document that was written anew meanwhile has that one, or a later one.
    const stamp = writtenKey + 1
    const action = { index: { _id, routing: _routing, ...atStamp(stamp) } }
    return `${JSON.stringify(action)}\n${renderTombstone(stamp)}\n`
  })
  return sendItems(options, options.alias, items)
}
