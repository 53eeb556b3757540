import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type {
  IdempotencyStore,
  IdempotentRequest,
  RequestClaim,
} from '../../../management/idempotency/idempotency-store.ts'
import { type DocumentWrite, sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching } from '../client/bulk/write-matching.ts'
import { type DocumentState, isOlderState } from '../client/documents/document-state.ts'
import { readDocument } from '../client/documents/read-documents.ts'
import type { IndexTarget } from '../client/search/document-search.ts'
import { storedObject } from './stored-object.ts'

interface FoundRequest {
  request: IdempotentRequest
  state: DocumentState
}

const FIELDS = ['id', 'bodyDigest', 'createdAt', 'response'] as const

/** Requests with an `Idempotency-Key` in a cluster, read by id and written by compare-and-set. */
export function createOpenSearchIdempotencyStore(target: IndexTarget): IdempotencyStore {
  const { client, index, deadlineMs } = target
  const sourceOf = (request: IdempotentRequest) => ({ created_at: request.createdAt, request })

  async function read(id: string): Promise<FoundRequest | null> {
    const found = await readDocument(client, deadlineMs, { index, id, preference: '_primary' })
    if (found === null) return null
    const { source, state } = found
    return {
      request: storedObject<IdempotentRequest>(target, { id, source }, 'request', FIELDS),
      state,
    }
  }

  /** The new state of the document; `null` after a conflict. */
  async function write(documentWrite: DocumentWrite): Promise<DocumentState | null> {
    const [outcome] = await sendWrites(target, [documentWrite])
    return typeof outcome === 'object' ? outcome : null
  }

  function claimOf(begun: FoundRequest): RequestClaim {
    const { id, createdAt } = begun.request
    // Earlier ones stay: a renewal that failed may be stored, or not.
    const instants = [createdAt]
    let known = begun

    /**
     * Writes on the condition of the known state, without a read: a node that is cut off still
     * serves reads, from before the claim. Returns the new state; `null` once the claim has ended.
     */
    async function writeClaimed(documentWrite: () => DocumentWrite): Promise<DocumentState | null> {
      for (;;) {
        const state = await write(documentWrite())
        if (state !== null) return state
        // The conflict may be with its own renewal that was late.
        const found = await read(id)
        if (found === null || !isOlderState(known.state, found.state)) {
          throw new Unavailable(
            `OpenSearch returned no current document of ${index} after a conflict`,
          )
        }
        const { request } = found
        if (request.response !== null || !instants.includes(request.createdAt)) return null
        known = found
      }
    }

    const replace = (changes: Partial<IdempotentRequest>) =>
      writeClaimed(() => ({
        action: { index: { _id: id, ...known.state } },
        source: sourceOf({ ...known.request, ...changes }),
      }))

    return {
      async renew(renewedAt) {
        instants.push(renewedAt)
        const state = await replace({ createdAt: renewedAt })
        if (state !== null) known = { request: { ...known.request, createdAt: renewedAt }, state }
      },
      async complete(response) {
        await replace({ response })
      },
      async forget() {
        await writeClaimed(() => ({ action: { delete: { _id: id, ...known.state } } }))
      },
    }
  }

  return {
    async begin(request, since) {
      const { id } = request
      const isKept = ({ response, createdAt }: IdempotentRequest) =>
        createdAt >= (response === null ? since.inProgress : since.completed)
      const found = await read(id)
      if (found !== null && isKept(found.request)) return { found: found.request }
      const action =
        found === null ? { create: { _id: id } } : { index: { _id: id, ...found.state } }
      const state = await write({ action, source: sourceOf(request) })
      if (state !== null) return { claim: claimOf({ request, state }) }
      const other = await read(id)
      if (other !== null && isKept(other.request)) return { found: other.request }
      throw new Unavailable('a request with the same Idempotency-Key changed meanwhile: try again')
    },
    async purge(beforeMs) {
      await purgeMatching(target, { range: { created_at: { lt: beforeMs } } })
    },
  }
}
