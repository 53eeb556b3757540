import { NoFields } from '../../../http/management/body.ts'
import { CreateSandboxOrder } from '../../../http/management/routes/sandbox.ts'
import { MAX_SANDBOX_ORDERS } from '../../../management/sandbox/sandbox-management.ts'
import { MAX_PAYMENTS, sandboxMoves } from '../../../management/sandbox/sandbox-moves.ts'
import { account, idIn, operations, type Parameter, page } from '../operation.ts'

const tag = 'Sandbox'
const move: Parameter = {
  name: 'move',
  in: 'path',
  required: true,
  description: 'A mudança; `moves` do pedido tem as que ele permite.',
  schema: { type: 'string', enum: [...sandboxMoves] },
  example: 'pay',
}

/** The operations on the orders of sandboxes. */
export const sandboxPaths = operations({
  '/v1/sandbox-scenarios': {
    get: {
      operationId: 'sandbox_scenarios_list',
      tag,
      summary: 'Lista os cenários',
      description: 'Como um pedido do sandbox pode começar. A lista vem inteira.',
      parameters: [],
      response: { status: 200, description: 'Os cenários.', schema: 'SandboxScenarioList' },
    },
  },
  '/v1/accounts/{account}/sandbox-orders': {
    get: {
      operationId: 'sandbox_orders_list',
      tag,
      summary: 'Lista os pedidos do sandbox',
      description: 'Também os apagados. Uma chave `key_test_` os lê na API pública.',
      parameters: [account, ...page],
      response: { status: 200, description: 'Uma página.', schema: 'SandboxOrderList' },
    },
    post: {
      operationId: 'sandbox_orders_create',
      tag,
      summary: 'Cria um pedido no sandbox',
      description: `O pedido aparece para as chaves \`key_test_\` da conta, e para os seus webhooks de teste. Uma conta tem até ${MAX_SANDBOX_ORDERS} pedidos no sandbox, sem contar os apagados.`,
      parameters: [account],
      body: { of: CreateSandboxOrder, example: { scenario: 'pix_awaiting' } },
      response: { status: 201, description: 'O pedido.', schema: 'SandboxOrder' },
      errorCodes: ['invalid_scenario', 'sandbox_full'],
    },
  },
  '/v1/accounts/{account}/sandbox-orders/{id}/{move}': {
    post: {
      operationId: 'sandbox_orders_move',
      tag,
      summary: 'Muda um pedido do sandbox',
      description: `Faz a próxima versão do pedido, como se o comprador ou a loja agisse. Um pedido tem até ${MAX_PAYMENTS} pagamentos.`,
      parameters: [account, idIn('ord_test', 'O id do pedido.'), move],
      body: { of: NoFields, example: {} },
      response: { status: 200, description: 'O pedido depois da mudança.', schema: 'SandboxOrder' },
      errorCodes: ['sandbox_order_missing', 'impossible_move'],
    },
  },
})
