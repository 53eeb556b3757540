import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { once } from '../lib/once.ts'
import { holds } from './conditional.ts'
import { readDocsFiles } from './docs-files.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import { missing } from './error-handler.ts'
import { loadScalar } from './scalar.ts'

const PAGE = {
  'Content-Type': 'text/html; charset=utf-8',
  // A nonce is good for one answer.
  'Cache-Control': 'no-store',
}
/** `gzip;q=0` is a no (RFC 9110, 12.5.3). */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/
const FOR_EVER = 'public, max-age=31536000, immutable'

/** What anybody may read, without a key: the page, the same as Markdown, the description, the feed of changes. */
export default fp(
  async (app) => {
    const files = readDocsFiles()
    const scalar = once(loadScalar)

    const sendFile = async (request: FastifyRequest, reply: FastifyReply) => {
      const [path = ''] = request.url.split('?')
      const { bytes, type, etag } = files.get(path) ?? missing()
      guard(reply).headers({ ETag: etag, 'Cache-Control': 'no-cache' })
      return holds(request, etag) ? reply.code(304).send() : reply.type(type).send(bytes)
    }
    for (const path of ['/openapi.json', '/docs.md', '/llms.txt']) app.get(path, sendFile)

    app.get('/docs', async (_request, reply) => {
      const nonce = randomBytes(16).toString('base64url')
      const { name } = await scalar()
      guard(reply).headers({ ...PAGE, 'Content-Security-Policy': docsPolicy(nonce) })
      return reply.send(docsPage(nonce, name))
    })

    // One pattern for all of them: each would have series of its own in the metrics.
    app.get<{ Params: { file: string } }>('/docs/:file', async (request, reply) => {
      if (!request.params.file.startsWith('scalar-')) return sendFile(request, reply)
      const { name, plain, gzipped } = await scalar()
      if (request.params.file !== name) missing()
      guard(reply).headers({ 'Cache-Control': FOR_EVER, Vary: 'Accept-Encoding' })
      reply.type('text/javascript; charset=utf-8')
      if (!TAKES_GZIP.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain)
      return reply.header('Content-Encoding', 'gzip').send(gzipped)
    })
  },
  { name: 'docs', dependencies: ['error-handler'] },
)

function guard(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' })
}
