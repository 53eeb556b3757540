import { errorResponses } from './errors.ts'
import { ignoredParamsHeader, rateLimitHeaders, requestIdHeader } from './headers.ts'
import { pageLinks } from './links.ts'
import { listParameters } from './parameters.ts'
import { hoistSchemas } from './schemas.ts'

const guide = `API somente de leitura para que cada conta leia os próprios pedidos (como dona ou coprodutora) a partir de ERP, CRM, planilhas e BI.

**Autenticação.** Toda requisição em \`/v1\` leva o cabeçalho \`Authorization: Bearer <API_KEY>\`. A chave nunca é aceita na URL.

**Paginação.** Chame a primeira vez sem \`cursor\`; enquanto \`has_more\` for verdadeiro, repita com o \`next_cursor\` recebido, os mesmos filtros e o mesmo \`sort\` (\`limit\` pode mudar). Não há limite de profundidade, e o total de pedidos não é informado.

**Cópia local em dia.** Percorra uma vez \`sort=updated_at_asc\` sem filtro até o fim; depois, repita com \`updated_gte\` igual ao maior \`updated_at\` visto. Guarde por \`id\`, substituindo a versão anterior. Pedidos com \`updated_at\` nulo só vêm sem esse filtro; um pedido apagado, ou de que a conta deixou de participar, some sem aviso: de tempos em tempos, compare com uma leitura completa.

**Limites.** Por conta: 20 requisições de uma vez, repostas a 10 por segundo. Por IP: 30 respostas \`401\` em 60 segundos bloqueiam o IP até o fim da janela; uma chave válida usada nas últimas 24 horas continua passando. Nos dois casos, \`429\` com \`Retry-After\`.

**Evolução.** Dentro de \`/v1\` as mudanças só acrescentam: campos, valores de listas abertas (\`x-extensible-enum\`) e recursos novos. Ignore o que não conhecer.

**Borda da rede.** Algumas respostas vêm antes do serviço, sem corpo JSON e sem \`Request-Id\`: \`400\` em texto para HTTP sem TLS, \`429\` com \`Retry-After: 300\` acima de 15.000 requisições em 5 minutos por IP, \`403\` do firewall e \`502\`, \`503\`, \`504\` do balanceador.`

/** The OpenAPI 3.1 description of the API, made from the schemas that the code itself uses. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'API pública de pedidos',
      version: '1.0.0',
      description: guide,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'O endereço em que este documento é servido' }],
    tags: [{ name: 'Pedidos', description: 'Pedidos da conta dona da chave.' }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/orders': {
        get: {
          operationId: 'orders_list',
          tags: ['Pedidos'],
          summary: 'Lista pedidos',
          description:
            'Lista os pedidos em que a conta é dona ou coprodutora. Filtros diferentes se combinam com E; vários valores do mesmo filtro, com OU. Um parâmetro desconhecido é ignorado, e o cabeçalho `Ignored-Params` traz o nome dele.',
          parameters: listParameters(),
          responses: {
            200: { ...ok('Uma página de pedidos.', 'OrderList'), links: pageLinks },
            ...errorResponses(400, 401, 403, 429, 500, 503),
          },
        },
      },
      '/v1/orders/{id}': {
        get: {
          operationId: 'orders_get',
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
          ],
          responses: {
            200: ok('O pedido.', 'Order'),
            ...errorResponses(401, 403, 404, 429, 500, 503),
          },
        },
      },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Chave de API da conta, criada nas configurações da conta. Começa com `key_live_`.',
        },
      },
      schemas: hoistSchemas(),
    },
  }
}

function ok(description: string, schema: string) {
  return {
    description,
    headers: {
      ...requestIdHeader,
      ...rateLimitHeaders({ always: true }),
      ...ignoredParamsHeader,
    },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}
