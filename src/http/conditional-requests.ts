import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { digestOf } from '../lib/digest.ts'
import { JSON_TYPE } from './headers.ts'

/**
 * Sends JSON that only the client can cache and must revalidate on each use. Sends `304` without a
 * body when `If-None-Match` matches. `digest`: equal ones mean equal bytes.
 */
export function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  json: Uint8Array,
  digest: string = digestOf(json),
): FastifyReply {
  const etag = strongTag(digest)
  reply.headers({
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Prefer',
  })
  return isFresh(request, etag) ? reply.code(304).send() : reply.type(JSON_TYPE).send(json)
}

/** The strong ETag of what these bytes represent. */
export function etagOf(bytes: Uint8Array): string {
  return strongTag(digestOf(bytes))
}

function strongTag(digest: string): string {
  return `"${digest}"`
}

/** Whether `If-None-Match` contains this ETag. */
export function isFresh({ headers }: FastifyRequest, etag: string): boolean {
  // The request's `Cache-Control` is omitted. `fetch` adds `no-cache` when code sets If-None-Match,
  // and `fresh` would then never match; the directive addresses shared caches only.
  return fresh({ 'if-none-match': headers['if-none-match'] }, { etag })
}
