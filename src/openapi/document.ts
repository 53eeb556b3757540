import { accountExamples } from '../http/routes/account-schema.ts'
import type { ChangelogEntry } from './changelog.ts'
import { markDeprecated, markDeprecatedFields } from './deprecations.ts'
import { errorResponses, strictErrorResponse } from './error-responses.ts'
import { orderExamples, orderListExamples } from './examples/order-examples.ts'
import { cacheableHeaders, queryHeaders, rateLimitHeaders, requestIdHeader } from './headers.ts'
import type { OperationId } from './operations.ts'
import { headerParameters, listParameters, pageLinks } from './parameters.ts'
import { hoistSchemas } from './schemas.ts'
import { webhooks } from './webhooks/webhooks.ts'

export interface CodeSample {
  /** The language name that renderers use. */
  lang: string
  label: string
  source: string
}

/** The content of the description that is not generated from schemas. */
export interface DocInputs {
  samples: Record<OperationId, CodeSample[]>
  changelog: readonly ChangelogEntry[]
}

/** Builds the OpenAPI 3.1 description from the schemas that the code uses. */
export function buildOpenApiDocument({ samples, changelog }: DocInputs) {
  return {
    openapi: '3.1.0',
    info: {
      // ASCII, because generators derive the names of packages from it.
      title: 'API de Pedidos',
      version: '1.0.0',
      description:
        'Cada conta lê os próprios pedidos, como dona ou coprodutora. A API é somente leitura, e o guia está em `/docs`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { url: '/docs', description: 'Guia, referência e programas de exemplo' },
    servers: [{ url: '/', description: 'O endereço em que este documento é servido' }],
    tags: [
      { name: 'Pedidos', description: 'Pedidos da conta dona da chave.' },
      { name: 'Conta', description: 'A conta e a chave de uma requisição.' },
      {
        name: 'Webhooks',
        description:
          'O que o serviço envia ao seu endereço; veja o capítulo [Receber webhooks](/docs#receber-webhooks).',
      },
    ],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/orders': {
        get: markDeprecated(
          {
            operationId: 'orders_list',
            'x-codeSamples': samples.orders_list,
            tags: ['Pedidos'],
            summary: 'Lista pedidos',
            description:
              'Lista os pedidos em que a conta é dona ou coprodutora. Filtros diferentes se combinam com E; vários valores do mesmo filtro, com OU. Um parâmetro desconhecido é ignorado, e o cabeçalho `Ignored-Params` traz o nome dele.',
            parameters: [...listParameters(), ...headerParameters()],
            responses: {
              200: {
                ...ok('Uma página de pedidos.', 'OrderList', orderListExamples),
                links: pageLinks,
              },
              304: notModified,
              ...errorResponses(400, 401, 403, 429, 500, 503),
            },
          },
          changelog,
        ),
      },
      '/v1/orders/{id}': {
        get: markDeprecated(
          {
            operationId: 'orders_get',
            'x-codeSamples': samples.orders_get,
            tags: ['Pedidos'],
            summary: 'Busca um pedido',
            description: 'Busca um pedido pelo `id`. Pedido inexistente ou de outra conta: `404`.',
            parameters: [
              {
                name: 'id',
                in: 'path',
                required: true,
                description: 'Identificador do pedido, prefixo `ord_`.',
                schema: { type: 'string' },
                example: 'ord_1aB2cD3eF4gH5iJ6',
              },
              ...headerParameters(),
            ],
            responses: {
              200: ok('O pedido.', 'Order', orderExamples),
              304: notModified,
              400: strictErrorResponse(),
              ...errorResponses(401, 403, 404, 429, 500, 503),
            },
          },
          changelog,
        ),
      },
      '/v1/account': {
        get: markDeprecated(
          {
            operationId: 'account_get',
            'x-codeSamples': samples.account_get,
            tags: ['Conta'],
            summary: 'Confere uma chave',
            description:
              'Diz de qual conta é a chave, o que ela permite e quando deixa de valer. Serve para conferir uma chave, também uma sem acesso a pedidos. Conta como uma requisição.',
            parameters: headerParameters(),
            responses: {
              200: ok('A conta e a chave.', 'Account', accountExamples),
              304: notModified,
              400: strictErrorResponse(),
              ...errorResponses(401, 403, 429, 500, 503),
            },
          },
          changelog,
        ),
      },
    },
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A chave da conta, que começa com `key_live_`, ou com `key_test_` no sandbox.',
        },
      },
      schemas: markDeprecatedFields(hoistSchemas(), changelog),
    },
  }
}

const headers = {
  ...requestIdHeader,
  ...rateLimitHeaders({ always: true }),
  ...cacheableHeaders,
  ...queryHeaders,
}

const notModified = {
  description: 'Nada mudou desde a resposta com o `ETag` enviado em `If-None-Match`; sem corpo.',
  headers,
}

function ok(description: string, schema: string, examples: object) {
  return {
    description,
    headers,
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples },
    },
  }
}
