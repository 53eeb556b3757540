import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, RESOURCE_NOT_FOUND_MESSAGE } from '../../api-error.ts'
import { contentTypeOf } from '../../content-type.ts'
import { createStaticFile, type StaticFile, sendStaticFile } from '../../static-file.ts'
import { CONSOLE_PATH } from '../console-link.ts'

// The same relative path from `src/http/console/routes` and `dist/http/console/routes`.
const folder = new URL('../../../../src/console/', import.meta.url)

const EXTENSIONS: readonly string[] = ['.html', '.css', '.js', '.svg']

/** `GET /painel`, and the files of the page below it. */
const pageRoutes: FastifyPluginAsync = async (app) => {
  const files = readPageFiles()

  function send(request: FastifyRequest, reply: FastifyReply, name: string) {
    const file = files.get(name)
    if (file === undefined)
      throw new ApiError('resource_missing', { message: RESOURCE_NOT_FOUND_MESSAGE })
    return sendStaticFile(request, reply, file)
  }

  app.get(CONSOLE_PATH, async (request, reply) => send(request, reply, 'page.html'))
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
