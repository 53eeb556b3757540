import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { readOpenApiFile } from '../../openapi/openapi-files.ts'
import { contentSecurityPolicy } from '../content-security-policy.ts'
import { contentTypeOf } from '../content-type.ts'
import { acceptsHtml } from '../headers.ts'
import { createStaticFile, type StaticFile, sendStaticFile } from '../static-file.ts'
import type { DocsContents } from './docs-contents.ts'

const PAGE = '/docs'

const CONTENT_SECURITY_POLICY = contentSecurityPolicy()

export interface DocsOptions {
  contents: DocsContents
}

/** The documentation of an API without authentication: the page, and the files it consists of. */
export default fp<DocsOptions>(
  async (app, { contents }) => {
    const files = readDocsFiles(contents)

    const sendFile = async (request: FastifyRequest, reply: FastifyReply) => {
      const [path = ''] = request.url.split('?')
      const file = files.get(path) ?? app.throwNotFound()
      reply.headers({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' })
      if (path === PAGE) reply.header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
      return sendStaticFile(request, reply, file)
    }
    // A person who types the address finds the page; a program finds out that its path is wrong.
    const sendToPage = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('Vary', 'Accept')
      return acceptsHtml(request.headers.accept) ? reply.redirect(PAGE) : app.throwNotFound()
    }

    for (const path of files.keys()) if (!path.startsWith(`${PAGE}/`)) app.get(path, sendFile)
    app.get('/', sendToPage)
    app.get(`${PAGE}/`, sendToPage)
    // One route pattern for all files: each pattern adds time series to the metrics.
    app.get(`${PAGE}/*`, sendFile)
  },
  { name: 'docs', dependencies: ['error-handler'] },
)

/** Reads all files at start, to fail early. @throws Error naming the missing file */
function readDocsFiles(contents: DocsContents): Map<string, StaticFile> {
  const files = Object.entries(contents).map(
    ([path, file]) => [path, createStaticFile(readOpenApiFile(file), contentTypeOf(file))] as const,
  )
  return new Map(files)
}
