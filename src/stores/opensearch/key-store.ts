import type { KeyRecord, KeyStore } from '../../auth/key-store.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { type Instrument, noopInstrument } from '../../lib/instrument.ts'
import { unbounded } from '../../lib/request-scope.ts'
import { type OpenSearch, type OpenSearchOperation, read, write } from './client/client.ts'
import { createBatchedReads } from './client/documents/batched-reads.ts'
import type { DocumentState } from './client/documents/document-state.ts'
import {
  type DocumentAddress,
  readDocument,
  type StoredDocument,
} from './client/documents/read-documents.ts'
import { replaceDocument } from './client/documents/replace-document.ts'
import { CONFLICT, isRejectedWith } from './client/errors.ts'
import { searchLinearizable } from './client/search/linearizable-search.ts'
import { completeHits, type Hit } from './client/search/search-response.ts'
import { refreshIndices } from './client/shards.ts'
import type { EnsureIndices } from './indices/ensure-indices.ts'
import type { IndexNames } from './indices/index-names.ts'
import { keyRecord, keySource, timestampsSource } from './key-document.ts'

export interface OpenSearchKeyStoreOptions {
  client: OpenSearch
  names: IndexNames
  ensureIndices: Pick<EnsureIndices, 'keys'>
  /** For each read, the response body included; the scope of a request may shorten it. */
  deadlineMs: number
  /** For each write, which includes the wait for a refresh. */
  writeDeadlineMs: number
  /** Receives the requests that serve API calls. */
  instrument?: Instrument<OpenSearchOperation>
}

/** The id of a document that never exists. */
const PROBE_ID = 'health-probe'
const LIST_PAGE_SIZE = 1_000
/** More than the processes that may store the first use of a key at the same time. */
const RETRIES_ON_CONFLICT = 50
/**
 * A write waits for the refresh, and never creates an index: an empty one would reject every key.
 */
const WRITE_OPTIONS = { refresh: 'wait_for', require_alias: true } as const

/**
 * Keys and accounts in a cluster: a key is the document of its digest, an account that of its id.
 */
export function createOpenSearchKeyStore({
  client,
  names,
  ensureIndices,
  deadlineMs,
  writeDeadlineMs,
  instrument = noopInstrument,
}: OpenSearchKeyStoreOptions): KeyStore {
  function getDocument(
    operation: OpenSearchOperation,
    address: DocumentAddress,
  ): Promise<StoredDocument | null> {
    return instrument(operation, () => readDocument(client, deadlineMs, address))
  }

  function batched(operation: OpenSearchOperation, index: string) {
    const options = { client, index, deadlineMs }
    return createBatchedReads({ ...options, instrument: (call) => instrument(operation, call) })
  }
  const findKey = batched('get_key', names.keys)
  const findAccount = batched('get_account', names.accounts)

  async function searchKeys(query: Record<string, string>, after?: Hit['sort']): Promise<Hit[]> {
    const body: object = {
      size: LIST_PAGE_SIZE,
      query: { bool: { filter: [{ term: query }] } },
      sort: [{ created_at: 'asc' }, { key_id: 'asc' }],
      ...(after && { search_after: after }),
    }
    const request = { index: names.keys, allow_partial_search_results: false, body }
    return completeHits(await read(deadlineMs, (options) => client.search(request, options)))
  }

  async function updateKey(
    address: DocumentAddress,
    doc: object,
    options: DocumentState | { retry_on_conflict: number; refresh?: false },
  ): Promise<void> {
    // An update without effect is a success before the replicas have what it repeats.
    const body = { doc, detect_noop: false }
    const request = { ...address, body, ...WRITE_OPTIONS, ...options }
    await write(writeDeadlineMs, (call) => client.update(request, call))
  }

  /** Keeps an earlier expiry, by compare-and-set. */
  async function writeExpiry(address: DocumentAddress, endsAt: number): Promise<number> {
    for (;;) {
      const found = await readDocument(client, deadlineMs, { ...address, preference: '_primary' })
      if (found === null) throw new Unavailable(`the key to update is missing in ${address.index}`)
      const current = keyRecord(address.id, found.source).expiresAt ?? Infinity
      const expiresAt = Math.min(current, endsAt)
      try {
        await updateKey(address, { expires_at: expiresAt }, found.state)
        return expiresAt
      } catch (error) {
        if (!isRejectedWith(error, CONFLICT)) throw error
      }
    }
  }

  /**
   * By compare-and-set: a request that arrives late would undo a later block or unblock. It begins
   * with a creation, because a read does not wait for the shard of a new index.
   */
  async function writeBlocked(address: DocumentAddress, blocked: boolean): Promise<void> {
    const options = { deadlineMs: writeDeadlineMs, refresh: 'wait_for' } as const
    let state: DocumentState | null = null
    while ((await replaceDocument(client, options, address, state, { blocked })) === null) {
      const found = await readDocument(client, deadlineMs, { ...address, preference: '_primary' })
      state = found?.state ?? null
    }
  }

  return {
    async find(digest, withinMs = Infinity) {
      const endsAt = monotonicClock() + withinMs
      // Without onDisconnect: other requests with the same key share this lookup.
      const scope = { ...unbounded, remainingMs: () => endsAt - monotonicClock() }
      const found = await findKey(digest, scope)
      if (found === null) return null
      const key = keyRecord(digest, found.source)
      // Also for revoked and expired keys, so that response times do not distinguish them.
      const account = await findAccount(key.accountId, scope)
      return { key, accountBlocked: isBlocked(account?.source) }
    },

    async ping() {
      await Promise.all([
        getDocument('get_key', { index: names.keys, id: PROBE_ID }),
        getDocument('get_account', { index: names.accounts, id: PROBE_ID }),
      ])
    },

    async list(accountId, { refresh = false } = {}) {
      if (refresh) {
        await ensureIndices.keys()
        await refreshIndices(client, deadlineMs, [names.keys])
      }
      const keys: KeyRecord[] = []
      for (let hits: Hit[] = []; ; ) {
        hits = await searchKeys({ account_id: accountId }, hits.at(-1)?.sort)
        keys.push(...hits.map(({ _id, _source }) => keyRecord(_id, _source)))
        if (hits.length < LIST_PAGE_SIZE) return keys
      }
    },

    async byId(keyId) {
      const [hit] = await searchKeys({ key_id: keyId })
      return hit === undefined ? null : keyRecord(hit._id, hit._source)
    },

    async wasAnyKeyUsed() {
      const target = { client, index: names.keys, deadlineMs: writeDeadlineMs }
      const query = { exists: { field: 'last_valid_at' } }
      const { done } = await searchLinearizable(target, { query, pageSize: 1 }).next()
      return !done
    },

    async insert({ digest, ...key }) {
      const request = { index: names.keys, id: digest, body: keySource(key), ...WRITE_OPTIONS }
      await ensureIndices.keys()
      await write(writeDeadlineMs, (options) => client.create(request, options))
    },

    async update(digest, timestamps) {
      const address = { index: names.keys, id: digest }
      const options = {
        retry_on_conflict: RETRIES_ON_CONFLICT,
        // A key's first request waits for this write. A query of uses refreshes by itself.
        ...(timestamps.revokedAt === undefined && { refresh: false as const }),
      }
      await instrument('update_key', () =>
        updateKey(address, timestampsSource(timestamps), options),
      )
    },

    expire: (digest, endsAt) =>
      instrument('update_key', () => writeExpiry({ index: names.keys, id: digest }, endsAt)),

    async setAccountBlocked(accountId, blocked) {
      await ensureIndices.keys()
      await writeBlocked({ index: names.accounts, id: accountId }, blocked)
    },

    async isAccountBlocked(accountId) {
      const account = await getDocument('get_account', { index: names.accounts, id: accountId })
      return isBlocked(account?.source)
    },
  }
}

function isBlocked(source: unknown): boolean {
  return Object(source).blocked === true
}
