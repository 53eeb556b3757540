import {
  MAX_CALLS,
  MAX_SOURCE_ORDERS_BYTES,
} from '../../../http/management/routes/source-orders.ts'
import { MAX_LINES } from '../../../management/ingestion/source-lines.ts'
import { pixOrder } from '../../examples/source-orders.ts'
import { failureResponses } from '../errors.ts'
import { success } from '../operation.ts'

const MIB = 1_024 * 1_024
const order = { anyOf: ['SourceOrder', 'SourceDeletion'].map(reference) }
const example = JSON.parse(JSON.stringify(pixOrder.slice(0, 2)))

/** The operation that takes changes of orders. */
export const sourceOrderPaths = {
  '/v1/source-orders': {
    post: {
      operationId: 'source_orders_push',
      tags: ['Pedidos'],
      summary: 'Envia mudanças de pedidos',
      description: `Até ${MAX_LINES} versões e ${MAX_SOURCE_ORDERS_BYTES / MIB} MiB por chamada, de qualquer conta, em NDJSON ou em uma lista JSON, sem compressão (\`Content-Encoding\`). Cada processo atende até ${MAX_CALLS} chamadas ao mesmo tempo; outra dá \`503\` antes de o corpo ser lido. Cada linha tem o seu resultado, e uma linha recusada não impede as outras. Repita a chamada à vontade: uma versão igual ou mais antiga que a gravada não muda nada. Um \`Idempotency-Key\` é ignorado.`,
      parameters: [],
      requestBody: {
        required: true,
        content: {
          'application/x-ndjson': {
            schema: { type: 'string', description: 'Um SourceOrder ou SourceDeletion por linha.' },
            example: example.map((source: object) => JSON.stringify(source)).join('\n'),
          },
          'application/json': {
            schema: { type: 'array', maxItems: MAX_LINES, items: order },
            example,
          },
        },
      },
      responses: {
        200: success('Gravadas.', 'SourceOrderResults'),
        202: success('Na fila, em disco; são gravadas em segundos.', 'SourceOrderResults'),
        ...failureResponses({
          body: null,
          isChange: true,
          isIdempotent: false,
          errorCodes: [],
          bodyLimit: MAX_SOURCE_ORDERS_BYTES,
        }),
      },
    },
  },
}

function reference(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}
