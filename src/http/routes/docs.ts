import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { memoizeAsync } from '../../lib/memoize-async.ts'
import { readOpenApiFile } from '../../openapi/openapi-files.ts'
import { ApiError } from '../api-error.ts'
import { acceptsGzip } from '../headers.ts'
import { etagOf, isFresh } from '../plugins/conditional.ts'
import { throwNotFound } from '../plugins/error-handler.ts'
import { type DocsContents, SCRIPT } from './docs-contents.ts'
import { contentSecurityPolicy, renderDocsPage } from './docs-page.ts'
import { loadDocsScript } from './docs-script.ts'

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  // A nonce is valid for one response.
  'Cache-Control': 'no-store',
}
const NEEDS_GZIP =
  'Este arquivo só é enviado comprimido com gzip. Envie o cabeçalho "Accept-Encoding: gzip" (no curl: --compressed).'
/** The most that a connection buffers of a large file before its client reads. */
const CHUNK_BYTES = 64 * 1024
const IMMUTABLE = 'public, max-age=31536000, immutable'

export interface DocsOptions {
  contents: DocsContents
}

/** The documentation of an API without authentication: the page, and the files it consists of. */
export default fp<DocsOptions>(
  async (app, { contents }) => {
    const files = readDocsFiles(contents)
    const docsScript = memoizeAsync(loadDocsScript)

    const sendFile = async (request: FastifyRequest, reply: FastifyReply) => {
      const [path = ''] = request.url.split('?')
      const { bytes, type, etag } = files.get(path) ?? throwNotFound()
      setSecurityHeaders(reply).headers({ ETag: etag, 'Cache-Control': 'no-cache' })
      return isFresh(request, etag) ? reply.code(304).send() : reply.type(type).send(bytes)
    }
    for (const path of files.keys()) if (!path.startsWith('/docs/')) app.get(path, sendFile)

    app.get('/docs', async (_request, reply) => {
      const nonce = randomBytes(16).toString('base64url')
      const { name } = await docsScript()
      setSecurityHeaders(reply).headers({
        ...PAGE_HEADERS,
        'Content-Security-Policy': contentSecurityPolicy(nonce),
      })
      return reply.send(renderDocsPage(contents, { nonce, script: name }))
    })

    // One route pattern for all files: each pattern adds time series to the metrics.
    app.get<{ Params: { file: string } }>('/docs/:file', async (request, reply) => {
      if (!request.params.file.startsWith('scalar-')) return sendFile(request, reply)
      const { name, gzipped } = await docsScript()
      if (request.params.file !== name) throwNotFound()
      setSecurityHeaders(reply).header('Vary', 'Accept-Encoding')
      if (!acceptsGzip(request.headers['accept-encoding'])) {
        throw new ApiError('invalid_request', { message: NEEDS_GZIP })
      }
      reply.headers({
        'Cache-Control': IMMUTABLE,
        'Content-Encoding': 'gzip',
        'Content-Length': gzipped.length,
      })
      return reply.type(SCRIPT).send(streamInChunks(gzipped))
    })
  },
  { name: 'docs', dependencies: ['error-handler'] },
)

interface DocsFile {
  bytes: Buffer
  type: string
  etag: string
}

/** Reads all files at start, to fail early. @throws Error naming the missing file */
function readDocsFiles({ files: committed }: DocsContents): Map<string, DocsFile> {
  const files = Object.entries(committed).map(([path, [file, type]]) => {
    const bytes = readOpenApiFile(file)
    return [path, { bytes, type, etag: etagOf(bytes) }] as const
  })
  return new Map(files)
}

function setSecurityHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' })
}

/** Streams the bytes, so that a client that does not read buffers one chunk, not all. */
function streamInChunks(bytes: Buffer): Readable {
  let offset = 0
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      this.push(offset < bytes.length ? bytes.subarray(offset, offset + CHUNK_BYTES) : null)
      offset += CHUNK_BYTES
    },
  })
}
