import { readAhead } from '../../../lib/async/read-ahead.ts'
import { type ScannedHit, scanDocuments } from '../client/search/scan.ts'
import {
  type DocumentOptions,
  type RetryOptions,
  retry,
  type VersionedDocument,
} from './versioned-documents.ts'

/** A document of a scan, which sorts by account and order id. */
export interface ScannedDocument extends VersionedDocument {
  sortKeys: readonly [accountId: string, orderId: string]
  checksumHeader: unknown
}

/** How two indices differ in one range of sort keys. */
export interface Difference {
  /** Documents of `from` that `to` lacks or has in an older version. */
  missing: ScannedDocument[]
  /** Documents of `to` that `from` lacks. */
  extra: ScannedDocument[]
  /** The number of documents of `from` in this range. */
  scanned: number
}

export interface CompareOptions extends DocumentOptions, RetryOptions {
  /** The indices that are compared. */
  from: string
  to: string
}

const PAGE_SIZE = 500

/**
 * Merges a scan of each index, so equal documents cost no request of their own. The scans read what
 * is searchable, at different times: while writers write, a difference is only a candidate.
 * @throws Unavailable; Error for a document without a key field
 */
export async function* compareIndices(options: CompareOptions): AsyncGenerator<Difference> {
  const scans = [scan(options, options.from, ['frame']), scan(options, options.to, false)] as const
  try {
    const sides = [createSide(scans[0]), createSide(scans[1])] as const
    for (;;) {
      const [inFrom, inTo] = await Promise.all([sides[0].current(), sides[1].current()])
      const last = earlier(inFrom.at(-1), inTo.at(-1))
      if (last === undefined) return
      const range = [sides[0].takeUntil(last), sides[1].takeUntil(last)] as const
      if (range.every(({ length }) => length === 0)) {
        throw new Error(
          `OpenSearch did not return ${last._id} in the order of account and order id`,
        )
      }
      yield compare(...range)
    }
  } finally {
    await Promise.all(scans.map((pages) => pages.return(undefined)))
  }
}

/** The documents of one scan that are not compared yet. */
function createSide(pages: AsyncGenerator<ScannedDocument[]>) {
  let buffered: ScannedDocument[] = []
  return {
    /** At least one document, unless the scan has ended. */
    async current(): Promise<readonly ScannedDocument[]> {
      if (buffered.length === 0) buffered = (await pages.next()).value ?? []
      return buffered
    },
    /** Removes and returns the documents up to these sort keys. */
    takeUntil(last: ScannedDocument): ScannedDocument[] {
      const end = buffered.findIndex((document) => compareSortKeys(document, last) > 0)
      return buffered.splice(0, end === -1 ? buffered.length : end)
    },
  }
}

/**
 * Both have all documents of a range, since no page ends between documents with equal sort keys.
 */
function compare(inFrom: ScannedDocument[], inTo: ScannedDocument[]): Difference {
  const versions = new Map(inTo.map(({ _id, writtenKey }) => [_id, writtenKey]))
  const ids = new Set(inFrom.map(({ _id }) => _id))
  return {
    missing: inFrom.filter(({ _id, writtenKey }) => (versions.get(_id) ?? -1) < writtenKey),
    extra: inTo.filter(({ _id }) => !ids.has(_id)),
    scanned: inFrom.length,
  }
}

function earlier(
  one: ScannedDocument | undefined,
  other: ScannedDocument | undefined,
): ScannedDocument | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return compareSortKeys(one, other) < 0 ? one : other
}

function compareSortKeys({ sortKeys: one }: ScannedDocument, { sortKeys: other }: ScannedDocument) {
  return compareKeywords(one[0], other[0]) || compareKeywords(one[1], other[1])
}

/** In the order of OpenSearch, which sorts a keyword by its UTF-8 bytes. */
function compareKeywords(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function scan(
  options: CompareOptions,
  index: string,
  _source: string[] | false,
): AsyncGenerator<ScannedDocument[]> {
  const attempt = <T>(work: () => Promise<T>) => retry(options, work)
  const selection = { _source, docvalue_fields: ['written_key'] }
  const name = () => options.aliasOf(index)
  const pages = scanDocuments({ ...options, index: name, pageSize: PAGE_SIZE, selection, attempt })
  return readAhead(documentsOf(pages))
}

async function* documentsOf(pages: AsyncIterable<readonly ScannedHit[]>) {
  for await (const page of pages) yield page.map(toScannedDocument)
}

/**
 * Routes by the account, as every read does. A document with other routing is readable in an index
 * of one shard only, and its copy becomes readable in any.
 */
function toScannedDocument({ _id, sort, fields, _source }: ScannedHit): ScannedDocument {
  const [accountId, orderId] = sort ?? []
  const writtenKey = fields?.['written_key']?.[0]
  if (
    typeof accountId === 'string' &&
    typeof orderId === 'string' &&
    typeof writtenKey === 'number'
  ) {
    const sortKeys = [accountId, orderId] as const
    const checksumHeader = Object(_source)['frame']
    return { _id, _routing: accountId, writtenKey, sortKeys, checksumHeader }
  }
  throw new Error(`the document ${_id} lacks a key field: "index check" lists all such documents`)
}
