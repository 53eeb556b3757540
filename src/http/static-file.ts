import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagOf, isFresh } from './conditional-requests.ts'
import { acceptsGzip } from './headers.ts'

/** A file in memory, in both representations. Each has its own ETag (RFC 9110, 8.8.3.3). */
export interface StaticFile {
  type: string
  plain: Representation
  /** Compressed on first use. */
  gzipped(): Representation
}

interface Representation {
  bytes: Buffer
  etag: string
}

export function createStaticFile(bytes: Buffer, type: string): StaticFile {
  let gzipped: Representation | undefined
  return {
    type,
    plain: representation(bytes),
    gzipped() {
      gzipped ??= representation(gzipSync(bytes))
      return gzipped
    },
  }
}

function representation(bytes: Buffer): Representation {
  return { bytes, etag: etagOf(bytes) }
}

/** Sends a file that clients can cache and must revalidate, compressed if the client accepts it. */
export function sendStaticFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): FastifyReply {
  const isGzipped = acceptsGzip(request.headers['accept-encoding'])
  const { bytes, etag } = isGzipped ? file.gzipped() : file.plain
  reply.headers({ ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' })
  if (isFresh(request, etag)) return reply.code(304).send()
  if (isGzipped) reply.header('Content-Encoding', 'gzip')
  return reply.type(file.type).send(bytes)
}
