import { Unavailable } from '../../../lib/unavailable.ts'
import type {
  IdempotencyStore,
  IdempotentRequest,
  RequestClaim,
} from '../../../management/idempotency/idempotency-store.ts'
import { type DocumentWrite, sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching } from '../client/bulk/write-matching.ts'
import type { IndexTarget } from '../client/document-search.ts'
import { type DocumentState, readDocument } from '../client/documents.ts'
import { storedObject } from './stored-object.ts'

interface FoundRequest {
  request: IdempotentRequest
  state: DocumentState
}

const FIELDS = ['id', 'bodyDigest', 'createdAt', 'response'] as const

/** Requests with an `Idempotency-Key` in a cluster, read by id and therefore always current. */
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

  /** The request in progress of a claim; `null` once the claim has ended. */
  async function readClaimed({ id, createdAt }: RequestClaim) {
    const found = await read(id)
    if (found === null || found.request.response !== null) return null
    return createdAt.includes(found.request.createdAt) ? found : null
  }

  /** Writes while the claim has not ended. A conflict may be with its own renewal that was late. */
  async function writeClaimed(
    claim: RequestClaim,
    writeOf: (found: FoundRequest) => DocumentWrite,
  ): Promise<void> {
    for (;;) {
      const found = await readClaimed(claim)
      if (found === null) return
      const [outcome] = await sendWrites(target, [writeOf(found)])
      if (outcome !== 'conflict') return
    }
  }

  const change = (claim: RequestClaim, changes: Partial<IdempotentRequest>) =>
    writeClaimed(claim, ({ request, state }) => ({
      action: { index: { _id: claim.id, ...state } },
      source: sourceOf({ ...request, ...changes }),
    }))

  return {
    async begin(request, since) {
      const isKept = ({ response, createdAt }: IdempotentRequest) =>
        createdAt >= (response === null ? since.inProgress : since.completed)
      const found = await read(request.id)
      if (found !== null && isKept(found.request)) return found.request
      const condition = found === null ? { create: { _id: request.id } } : undefined
      const action = condition ?? { index: { _id: request.id, ...found?.state } }
      const [state] = await sendWrites(target, [{ action, source: sourceOf(request) }])
      if (typeof state === 'object') return null
      const other = await read(request.id)
      if (other !== null && isKept(other.request)) return other.request
      throw new Unavailable('a request with the same Idempotency-Key changed meanwhile: try again')
    },
    renew: (claim, createdAt) => change(claim, { createdAt }),
    complete: (claim, response) => change(claim, { response }),
    forget: (claim) =>
      writeClaimed(claim, ({ state }) => ({ action: { delete: { _id: claim.id, ...state } } })),
    async purge(beforeMs) {
      await purgeMatching(target, { range: { created_at: { lt: beforeMs } } })
    },
  }
}
