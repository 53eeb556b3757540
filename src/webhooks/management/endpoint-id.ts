import { hash, randomUUID } from 'node:crypto'
import { DAY_MS } from '../../lib/durations.ts'
import type { RepeatableRequest } from '../endpoints/endpoint.ts'
import type { EndpointStore } from '../endpoints/endpoint-store.ts'

/** `we_` and 32 hexadecimal digits: identifies a webhook endpoint. */
export function newEndpointId(): string {
  return `we_${randomUUID().replaceAll('-', '')}`
}

/** An id like a new one, which is always the same for this text. */
function derivedEndpointId(text: string): string {
  return `we_${hash('sha256', text).slice(0, 32)}`
}

/**
 * The id of the endpoint that a request creates at `nowMs`, epoch milliseconds. It derives from the
 * request, so that its repetition within a day finds the endpoint and creates no other. Only a
 * write that a store completes after both an error and midnight UTC leaves a second one.
 * @throws Unavailable
 */
export async function endpointIdOf(
  endpoints: Pick<EndpointStore, 'find'>,
  request: RepeatableRequest | undefined,
  nowMs: number,
): Promise<string> {
  if (request === undefined) return newEndpointId()
  const earlier = await findId(endpoints, request, request.sinceMs)
  return earlier.isStored ? earlier.id : (await findId(endpoints, request, nowMs)).id
}

/**
 * The id of the endpoint that a request created on the UTC day of this instant, or the first free
 * one. Secrets derive from ids. With the day, no id is used again once the marker of a deletion is
 * purged.
 */
async function findId(
  endpoints: Pick<EndpointStore, 'find'>,
  request: RepeatableRequest,
  atMs: number,
): Promise<{ id: string; isStored: boolean }> {
  const day = Math.floor(atMs / DAY_MS)
  for (let use = 0; ; use += 1) {
    const id = derivedEndpointId(`${request.id} ${day} ${use}`)
    const stored = await endpoints.find(id)
    if (stored === null) return { id, isStored: false }
    if (stored.deletedAt === null && stored.createdAt >= request.sinceMs) {
      return { id, isStored: true }
    }
  }
}
