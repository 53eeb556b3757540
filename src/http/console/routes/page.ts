import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { contentTypeOf } from '../../content-type.ts'
import { acceptsHtml } from '../../headers.ts'
import { createStaticFile, type StaticFile, sendStaticFile } from '../../static-file.ts'
import { CONSOLE_PATH } from '../console-link.ts'

// The same relative path from `src/http/console/routes` and `dist/http/console/routes`.
const folder = new URL('../../../../src/console/', import.meta.url)

const EXTENSIONS: readonly string[] = ['.html', '.css', '.js', '.svg']

/** `GET /painel`, the files of the page below it, and the addresses that lead a browser to it. */
const pageRoutes: FastifyPluginAsync = async (app) => {
  const files = readPageFiles()

  function send(request: FastifyRequest, reply: FastifyReply, name: string) {
    return sendStaticFile(request, reply, files.get(name) ?? app.throwNotFound())
  }
  // A browser keeps the fragment of a link, so a link with a slash too many still starts a session.
  const sendToPage = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('Vary', 'Accept')
    return acceptsHtml(request.headers.accept) ? reply.redirect(CONSOLE_PATH) : app.throwNotFound()
  }

  app.get(CONSOLE_PATH, async (request, reply) => send(request, reply, 'page.html'))
  app.get('/', sendToPage)
  app.get(`${CONSOLE_PATH}/`, sendToPage)
  app.get<{ Params: { '*': string } }>(`${CONSOLE_PATH}/*`, async (request, reply) =>
    send(request, reply, request.params['*']),
  )
}

export default pageRoutes

/** Reads all files at start, to fail early. Names are paths below the folder. */
function readPageFiles(): Map<string, StaticFile> {
  const names = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((name) =>
    EXTENSIONS.includes(extname(name)),
  )
  return new Map(
    names.map((name) => {
      const bytes = readFileSync(new URL(name, folder))
      return [name, createStaticFile(bytes, contentTypeOf(name))]
    }),
  )
}
