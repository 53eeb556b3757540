import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { JSON_TYPE } from '../headers.ts'

/** 132 bits of the digest. */
const TAG_LENGTH = 22

/**
 * Answers with JSON that the caller may keep for itself and has to ask about each time, or with a `304` that has no
 * body where the caller says by `If-None-Match` that it has just these bytes.
 */
export function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  json: Uint8Array,
): FastifyReply {
  const etag = etagOf(json)
  reply.headers({
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Prefer',
  })
  return isFresh(request, etag) ? reply.code(304).send() : reply.type(JSON_TYPE).send(json)
}

/** The strong tag of these very bytes. */
export function etagOf(bytes: Uint8Array): string {
  return `"${hash('sha256', bytes, 'base64url').slice(0, TAG_LENGTH)}"`
}

/** Whether the caller says by `If-None-Match` that it has what this tag is of. */
export function isFresh({ headers }: FastifyRequest, etag: string): boolean {
  // The request's `Cache-Control` is not shown: `no-cache` there is for caches on the way, and whoever sets
  // If-None-Match on a `fetch` sends it unasked: none of them would ever be told 304.
  return fresh({ 'if-none-match': headers['if-none-match'] }, { etag })
}
