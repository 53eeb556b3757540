import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../errors.ts'
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
const ZERO_QUALITY = /^q=0(\.0*)?$/
const NEEDS_GZIP =
  'Este arquivo só é enviado comprimido com gzip. Envie o cabeçalho "Accept-Encoding: gzip" (no curl: --compressed).'
/** Of a large file, at most so many bytes are handed to a connection before its client reads. */
const WINDOW_BYTES = 64 * 1024
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
      const { name, gzipped } = await scalar()
      if (request.params.file !== name) missing()
      guard(reply).header('Vary', 'Accept-Encoding')
      if (!takesGzip(request.headers['accept-encoding'])) {
        throw new ApiError('invalid_request', { message: NEEDS_GZIP })
      }
      reply.headers({
        'Cache-Control': FOR_EVER,
        'Content-Encoding': 'gzip',
        'Content-Length': gzipped.length,
      })
      return reply.type('text/javascript; charset=utf-8').send(inWindows(gzipped))
    })
  },
  { name: 'docs', dependencies: ['error-handler'] },
)

function guard(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' })
}

/** Whether a client takes gzip (RFC 9110, 12.5.3): without the header it takes every coding. */
function takesGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return true
  const accepted = new Map<string, boolean>()
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...params] = element.split(';').map((part) => part.trim())
    accepted.set(coding, !params.some((param) => ZERO_QUALITY.test(param)))
  }
  return accepted.get('gzip') ?? accepted.get('*') ?? false
}

/** The bytes as a stream, so that a client that does not read keeps one window of them, not all. */
function inWindows(bytes: Buffer): Readable {
  let at = 0
  return new Readable({
    highWaterMark: WINDOW_BYTES,
    read() {
      this.push(at < bytes.length ? bytes.subarray(at, at + WINDOW_BYTES) : null)
      at += WINDOW_BYTES
    },
  })
}
