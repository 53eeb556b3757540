import { NoFields } from '../../../http/management/body.ts'
import { CreateKey, RollKey } from '../../../http/management/routes/keys.ts'
import { MAX_OWN_KEYS } from '../../../management/keys/key-management.ts'
import { account, idIn, type OperationSpec, operations, page } from '../operation.ts'

const tag = 'Chaves e contas'
const key = idIn('key', 'O id da chave, e não a chave.')

const block = (operationId: string, summary: string, description: string): OperationSpec => ({
  ...{ operationId, tag, summary, description },
  parameters: [account],
  response: { status: 200, description: 'A conta.', schema: 'Account' },
})

/** The operations on keys and accounts. */
export const keyPaths = operations({
  '/v1/accounts/{account}/keys': {
    get: {
      operationId: 'keys_list',
      tag,
      summary: 'Lista as chaves de uma conta',
      description: 'Todas as chaves, também as revogadas e as expiradas.',
      parameters: [account, ...page],
      response: { status: 200, description: 'Uma página.', schema: 'ApiKeyList' },
    },
    post: {
      operationId: 'keys_create',
      tag,
      summary: 'Cria uma chave',
      description: `A chave aparece só nesta resposta: guarde-a ou entregue-a agora. Sem \`scopes\`, ela lê pedidos por inteiro; com \`["orders:read_masked"]\`, sem dados pessoais; sem \`expires_in_seconds\`, não expira. Em uma sessão do painel, até ${MAX_OWN_KEYS} chaves ativas da conta e outras ${MAX_OWN_KEYS} do sandbox.`,
      parameters: [account],
      body: { of: CreateKey, example: { name: 'ERP' } },
      response: { status: 201, description: 'A chave.', schema: 'CreatedApiKey' },
      errorCodes: ['too_many_keys'],
    },
  },
  '/v1/accounts/{account}/keys/{id}/roll': {
    post: {
      operationId: 'keys_roll',
      tag,
      summary: 'Troca uma chave',
      description:
        'Cria a sucessora, com os mesmos acessos e o mesmo prazo. A antiga vale por mais `overlap_seconds`, 24 horas por padrão.',
      parameters: [account, key],
      body: { of: RollKey, example: { overlap_seconds: 3_600 } },
      response: { status: 201, description: 'A chave nova.', schema: 'CreatedApiKey' },
      errorCodes: ['key_missing', 'key_inactive', 'too_many_keys'],
    },
  },
  '/v1/accounts/{account}/keys/{id}/revoke': {
    post: {
      operationId: 'keys_revoke',
      tag,
      summary: 'Revoga uma chave',
      description:
        'Ela deixa de valer em até 5 segundos, ou em até 10 minutos onde o registro das chaves está fora do ar. Revogar de novo não muda nada.',
      parameters: [account, key],
      body: { of: NoFields, example: {} },
      response: { status: 200, description: 'A chave revogada.', schema: 'ApiKey' },
      errorCodes: ['key_missing'],
    },
  },
  '/v1/accounts/{account}/block': {
    get: block(
      'accounts_block_state',
      'Diz se uma conta está bloqueada',
      'Uma conta que nunca foi bloqueada não está, também uma que não existe: as contas são da plataforma, e este serviço não tem a lista delas.',
    ),
    put: block(
      'accounts_block',
      'Bloqueia uma conta',
      'Em até 5 segundos, as chaves dela recebem `403 account_blocked` e as sessões do painel terminam. Onde o registro das chaves está fora do ar, as chaves valem por até 10 minutos. Os webhooks continuam: desative também os endpoints da conta e do sandbox, para que nada mais seja enviado.',
    ),
    delete: block(
      'accounts_unblock',
      'Desbloqueia uma conta',
      'As chaves voltam a valer em até 5 segundos.',
    ),
  },
})
