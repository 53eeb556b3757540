import { type DeliveredType, eventTypes, TEST_EVENT } from '../../webhooks/events/event-types.ts'
import { eventDescriptions } from './event-descriptions.ts'
import { eventExamples, thin } from './event-examples.ts'

/** The webhooks of the description: one operation of the receiver for each event type. */
export function webhooks() {
  const examples = eventExamples()
  const types: DeliveredType[] = [...eventTypes, TEST_EVENT]
  return Object.fromEntries(
    types.map((type) => {
      const { title, when } = eventDescriptions[type]
      const operation = {
        operationId: type.replaceAll('.', '_'),
        tags: ['Webhooks'],
        summary: type, // The menu of the page lists these.
        description: `**${title}.** ${when.charAt(0).toUpperCase()}${when.slice(1)}.`,
        // The receiver authenticates the request by its signature, and no key is sent.
        security: [],
        parameters,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: bodySchema(type),
              examples: {
                evento: { summary: type, value: examples[type] },
                ...(type === 'order.paid' && {
                  thin: { summary: `${type}, sem o pedido (thin)`, value: thin(examples[type]) },
                }),
              },
            },
          },
        },
        responses,
      }
      return [type, { post: operation }]
    }),
  )
}

function bodySchema(type: DeliveredType) {
  if (type === TEST_EVENT) return { $ref: '#/components/schemas/WebhookTestEvent' }
  const properties = { type: { type: 'string', const: type } }
  const rules =
    type === 'order.removed'
      ? { properties: { ...properties, change: { maxProperties: 0 } }, not: { required: ['data'] } }
      : { properties }
  return { allOf: [{ $ref: '#/components/schemas/OrderEvent' }, { type: 'object', ...rules }] }
}

const header = (name: string, description: string, pattern: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
  example,
})

const parameters = [
  header(
    'webhook-id',
    'O `id` do evento. Não muda entre tentativas: descarte um que você já tratou.',
    '^evt_[0-9A-Za-z]{24}$',
    'evt_4bC0dE1fG2hI3jK4lM5nO6pQ',
  ),
  header(
    'webhook-timestamp',
    'Instante desta tentativa, em segundos desde 1970. Recuse uma diferença maior que 5 minutos.',
    '^\\d{10}$',
    '1772366700',
  ),
  header(
    'webhook-signature',
    'Uma ou, durante uma troca de segredo, duas assinaturas separadas por espaço: `v1,` e o HMAC-SHA256 de `webhook-id.webhook-timestamp.corpo` em base64.',
    '^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header(
    'user-agent',
    'Sempre começa assim; não serve para autenticar.',
    '^public-orders-api-webhooks/',
    'public-orders-api-webhooks/0.1.0',
  ),
]

/** What the receiver may return; the dispatcher understands nothing else. */
const responses = {
  '2XX': {
    description: 'Recebido. Só os cabeçalhos decidem; responda em segundos e trabalhe depois.',
  },
  '410': { description: 'Pare: o endpoint é desabilitado na hora, e nada mais é enviado.' },
  '429': {
    description:
      'Devagar: a entrega é tentada de novo, e o endpoint passa a receber um aviso por vez.',
    headers: {
      'Retry-After': {
        description: 'Segundos até a próxima tentativa; atendido até 1 hora.',
        schema: { type: 'integer', minimum: 0, maximum: 3600 },
        example: 60,
      },
    },
  },
  default: {
    description:
      'Qualquer outra resposta, um redirecionamento ou nenhuma em 15 segundos: a entrega é tentada de novo. `502`, `503` e `504` têm o mesmo efeito de um `429`, também com `Retry-After`.',
  },
}
