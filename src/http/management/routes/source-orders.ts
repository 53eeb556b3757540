import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Ingestion, LineResult } from '../../../management/ingestion/ingestion.ts'
import { IngestionUnavailable } from '../../../management/ingestion/ingestion-unavailable.ts'
import type { SourceOrdersFormat } from '../../../management/ingestion/source-lines.ts'
import { ApiError } from '../../api-error.ts'
import { authorize } from '../principal.ts'

export interface SourceOrdersRoutesOptions {
  ingestion: Ingestion
  /** Called for each line of a call with a result. */
  onResult(result: LineResult): void
}

export const MAX_SOURCE_ORDERS_BYTES = 8 * 1_024 * 1_024
/** Each holds a body and its parsed orders in memory. */
export const MAX_CALLS = 8
const FORMATS = ['application/x-ndjson', 'application/json'] satisfies SourceOrdersFormat[]

/** `POST /v1/source-orders`. */
const sourceOrdersRoutes: FastifyPluginAsync<SourceOrdersRoutesOptions> = async (app, options) => {
  const { ingestion, onResult } = options
  const formats = new WeakMap<FastifyRequest, SourceOrdersFormat>()
  const calls = new Set<FastifyRequest>()
  const writing = new Set<FastifyRequest>()

  // The formats of this route alone; the other routes keep JSON objects.
  app.removeAllContentTypeParsers()
  for (const format of FORMATS) {
    app.addContentTypeParser(format, { parseAs: 'buffer' }, (request, body, done) => {
      formats.set(request, format)
      done(null, body)
    })
  }
  app.addContentTypeParser('*', (_request, _payload, done) => done(unsupportedType()))

  // Before the body: a call that is refused sends its orders for nothing.
  app.addHook('onRequest', async (request, reply) => {
    authorize(request, { accountId: null })
    if (calls.size >= MAX_CALLS) {
      throw new IngestionUnavailable('busy', `${MAX_CALLS} calls are in progress`)
    }
    calls.add(request)
    // A client that disconnects does not stop its write.
    reply.raw.once('close', () => {
      if (!writing.has(request)) calls.delete(request)
    })
  })

  app.post('/source-orders', { bodyLimit: MAX_SOURCE_ORDERS_BYTES }, async (request, reply) => {
    const format = formats.get(request)
    if (format === undefined || !Buffer.isBuffer(request.body)) throw unsupportedType()
    writing.add(request)
    try {
      const results = await ingestion.ingest(request.body, format)
      for (const { result } of results.data) onResult(result)
      return reply.code(ingestion.isDeferred ? 202 : 200).send(results)
    } finally {
      writing.delete(request)
      if (reply.raw.closed) calls.delete(request)
    }
  })
}

function unsupportedType(): ApiError {
  return new ApiError('invalid_request', {
    status: 415,
    message:
      'Envie os pedidos como "Content-Type: application/x-ndjson", um por linha, ou como uma lista JSON com "Content-Type: application/json".',
  })
}

export default sourceOrdersRoutes
