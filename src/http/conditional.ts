import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { JSON_TYPE } from './headers.ts'

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
  const etag = `"${hash('sha256', json, 'base64url').slice(0, TAG_LENGTH)}"`
  reply.headers({
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Prefer',
  })
  // It is not shown the request's `Cache-Control`. `no-cache` there is for caches on the way, and whoever sets
  // If-None-Match on a `fetch` sends it unasked: none of them would ever be told 304.
  const isHeld = fresh({ 'if-none-match': request.headers['if-none-match'] }, { etag })
  return isHeld ? reply.code(304).send() : reply.type(JSON_TYPE).send(json)
}
