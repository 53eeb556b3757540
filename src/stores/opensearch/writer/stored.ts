import { hasKeysOf, hasReadableKeys, type StoredKeys } from '../../../indexing/writing/document.ts'
import type {
  Head,
  Stored,
  StoredView,
  UnreadableView,
  ViewKey,
} from '../../../indexing/writing/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { OpenSearch } from '../client.ts'
import { fitsFrame } from '../cut.ts'
import { type WalkedHit, walkDocuments } from '../document-walk.ts'
import { readDocuments, type ToldDocument } from '../documents.ts'
import type { IndexNames } from '../names.ts'
import { documentId, type OrderSource, orderSource, renderStored } from '../order-source.ts'
import type { BulkAddress, BulkTarget, KnownStates } from './known-states.ts'

export interface StoredOptions {
  client: OpenSearch
  names: IndexNames
  /** Told the state of everything that is read. */
  states: KnownStates
  /** For each call, the answer's body included. */
  deadlineMs: number
}

/** What is in the index, searchable yet or not. */
export function createStored({ client, names, states, deadlineMs }: StoredOptions): Stored {
  /** The documents that exist. */
  async function read(target: BulkTarget, docs: readonly BulkAddress[]): Promise<Found[]> {
    const index = names[target]
    const answers = await readDocuments(client, deadlineMs, { index, docs })
    if (!answers.every(hasState)) {
      throw new Unavailable(`OpenSearch did not tell the state of every document of ${index}`)
    }
    for (const { _id, found, _seq_no, _primary_term } of answers) {
      // A tombstone is no document, and has a state.
      const isThere = found || _seq_no !== undefined
      const state = isThere ? { if_seq_no: _seq_no, if_primary_term: _primary_term } : null
      states.see(target, _id, state)
    }
    return answers.filter(({ found }) => found)
  }

  return {
    async heads(orderIds) {
      const found = await read(
        'heads',
        orderIds.map((_id) => ({ _id })),
      )
      return new Map(found.map(({ _id, _source }) => [_id, headOf(_id, _source as HeadSource)]))
    },
    strays: scan,
    scan,
    async views(keys) {
      const docs = keys.map((key) => ({ _id: documentId(key), routing: key.accountId }))
      const places = new Map(keys.map((key) => [documentId(key), key]))
      const found = await read('orders', docs)
      return found.flatMap(({ _id, _source }) => {
        const key = places.get(_id)
        return key === undefined ? [] : storedView(key, _source)
      })
    },
  }

  async function scan(orderIds: readonly string[]): Promise<ViewKey[]> {
    if (orderIds.length === 0) return []
    // A search, which shows what was refreshed: all that others wrote, or this writer in a bulk that
    // failed, since the fence was raised. A bulk that did not fail left no strays.
    const filter = [{ terms: { id: [...orderIds] } }]
    const walk = { client, index: names.orders, deadlineMs, pageSize: PAGE_SIZE, filter }
    const found: ViewKey[] = []
    for await (const page of walkDocuments({ ...walk, wanted: { _source: false } })) {
      found.push(...page.map(placeOf))
    }
    return found
  }
}

const PAGE_SIZE = 5_000

function placeOf({ sort: [accountId, orderId] = [] }: WalkedHit): ViewKey {
  return { accountId: String(accountId), orderId: String(orderId) }
}

type Found = Required<ToldDocument>

function hasState(told: ToldDocument): told is Found {
  const { found, _seq_no, _primary_term } = told
  return !found || (Number.isSafeInteger(_seq_no) && Number.isSafeInteger(_primary_term))
}

function storedView({ accountId, orderId }: ViewKey, source: unknown): StoredView | UnreadableView {
  const keys = keysOf(source)
  const stored = asOrder(source)
  if (stored?.account_id !== accountId || stored.id !== orderId || !hasReadableKeys(keys)) {
    return { accountId, orderId, isUnreadable: true }
  }
  const { writtenKey } = keys
  return {
    accountId,
    orderId,
    updatedKey: keys.updatedKey,
    ...(typeof writtenKey === 'number' && { writtenKey }),
    shape: keys.shape,
    json: renderStored(stored),
    isIntact: (view) => fitsFrame(Object(source)) && hasKeysOf(view, keys),
  }
}

/** The document of an order; `undefined` where it is none. */
function asOrder(source: unknown): OrderSource | undefined {
  try {
    return orderSource(source)
  } catch {
    return undefined // It says just that: it reads nothing.
  }
}

function keysOf(source: unknown): StoredKeys {
  const keys = Object(source) as Record<string, unknown>
  return {
    shape: keys['shape'],
    status: keys['status'],
    paymentMethod: keys['payment_method'],
    createdKey: keys['created_key'],
    updatedKey: keys['updated_key'],
    writtenKey: keys['written_key'],
  }
}

interface HeadSource {
  version: number
  owner: string
  accounts: string[]
  created_at: number | null
  filled: boolean
  deleted: boolean
}

/** A head as it is kept. */
export function headSource(head: Head): HeadSource {
  return {
    version: head.version,
    owner: head.ownerAccountId,
    accounts: [...head.accountIds],
    created_at: head.createdKey,
    filled: head.filled,
    deleted: head.deleted,
  }
}

/** The head that `headSource` was made of. */
export function headOf(orderId: string, source: HeadSource): Head {
  return {
    orderId,
    version: source.version,
    ownerAccountId: source.owner,
    accountIds: source.accounts,
    createdKey: source.created_at,
    filled: source.filled,
    deleted: source.deleted,
  }
}
