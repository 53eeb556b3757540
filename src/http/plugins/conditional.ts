import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { JSON_TYPE } from '../headers.ts'

/** 22 characters of base64url: 132 bits of the digest. */
const TAG_LENGTH = 22

/**
 * Sends JSON that only the client can cache and must revalidate on each use. Sends `304` without a
 * body when `If-None-Match` matches. `version`: equal ones mean equal bytes; cheaper to hash.
 */
export function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  json: Uint8Array,
  version: Uint8Array | string = json,
): FastifyReply {
  const etag = etagOf(version)
  reply.headers({
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Prefer',
  })
  return isFresh(request, etag) ? reply.code(304).send() : reply.type(JSON_TYPE).send(json)
}

/** The strong ETag of what these bytes represent. */
export function etagOf(version: Uint8Array | string): string {
  return `"${hash('sha256', version, 'base64url').slice(0, TAG_LENGTH)}"`
}

/** Whether `If-None-Match` contains this ETag. */
export function isFresh({ headers }: FastifyRequest, etag: string): boolean {
  // The request's `Cache-Control` is omitted. `fetch` adds `no-cache` when code sets If-None-Match,
  // and `fresh` would then never match; the directive addresses shared caches only.
  return fresh({ 'if-none-match': headers['if-none-match'] }, { etag })
}
