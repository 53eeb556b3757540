import { type TProperties, Type } from '@sinclair/typebox'
import { scopes } from '../../auth/key-store.ts'
import { errorCatalogue, managementErrors } from '../../http/api-error.ts'
import { MAX_LIST_ITEMS } from '../../http/management/list-page.ts'
import { SourceDeletion, SourceOrder } from '../../indexing/projection/source-order.ts'
import { limitHelp } from '../../lib/page-limit.ts'
import { auditActions, auditOutcomes } from '../../management/audit/audit-entry.ts'
import { lineResults } from '../../management/ingestion/ingestion.ts'
import {
  instant,
  integer,
  nullable,
  oneOf,
  openList,
  pattern,
  resource,
  text,
} from '../../orders/schema/types.ts'
import { errorSchema, type Json, listSchema, schemasIn } from '../schemas.ts'
import { sourceSchema } from './request-schema.ts'
import { SandboxOrder, SandboxScenario } from './sandbox-schemas.ts'
import {
  CreatedWebhookEndpoint,
  EnabledWebhookEndpoint,
  RolledSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookReplay,
} from './webhook-schemas.ts'

const kind = <T extends string>(name: T) =>
  Type.Literal(name, { description: `Sempre \`${name}\`.` })
const AT = '2026-11-23T12:00:00.000Z'

const apiKey = {
  object: kind('api_key'),
  id: pattern(
    '^key_[0-9a-f]{32}$',
    'Identifica a chave; não é a chave.',
    `key_${'3f2a9c4e'.repeat(4)}`,
  ),
  account_id: text('A conta cujos pedidos a chave lê.', 'acc_1'),
  name: nullable(text('O nome que você deu.', 'ERP')),
  scopes: Type.Array(
    oneOf(
      scopes,
      'Um acesso: `orders:read` lê pedidos, `orders:read_masked` os lê sem dados pessoais.',
      'orders:read',
    ),
    {
      description: 'O que a chave permite.',
      examples: [['orders:read']],
    },
  ),
  test: Type.Boolean({ description: 'Se ela lê o sandbox da conta.', examples: [false] }),
  last_four: text('Os quatro últimos caracteres, para reconhecê-la.', 'x7Qk'),
  created_at: instant('Quando foi criada.', AT),
  expires_at: nullable(instant('Quando deixa de valer; `null` para nunca.', AT)),
  revoked_at: nullable(instant('Quando foi revogada.', AT)),
  last_used_at: nullable(instant('O último uso, com até 10 segundos de atraso.', AT)),
}

const ApiKey = resource('ApiKey', 'Uma chave da API pública, sem o segredo.', apiKey)

const CreatedApiKey = resource('CreatedApiKey', 'Uma chave nova.', {
  ...apiKey,
  key: Type.Optional(
    pattern(
      '^key_(live|test)_',
      'A chave, que aparece só nesta resposta. Falta quando a resposta é a repetição de um `Idempotency-Key`.',
      'key_live_…',
    ),
  ),
})

const Account = resource('Account', 'Uma conta.', {
  object: kind('account'),
  id: text('O id da conta.', 'acc_1'),
  blocked: Type.Boolean({
    description: 'Se as chaves da conta recebem `403 account_blocked`.',
    examples: [true],
  }),
})

const AuditEntry = resource('AuditEntry', 'Uma mudança, com o seu desfecho.', {
  object: kind('audit_entry'),
  id: pattern('^aud_[0-9a-f]{32}$', 'Identifica o registro.', `aud_${'3f2a9c4e'.repeat(4)}`),
  at: instant('Quando a mudança começou.', AT),
  actor: text('`token:NOME`, `console:QUEM` ou `cli`.', 'token:backoffice'),
  action: openList(auditActions, 'O que foi feito. A lista pode crescer.', 'key.create'),
  account_id: text('A conta atingida.', 'acc_1'),
  target: text('O id do que mudou; nunca um segredo.', `key_${'3f2a9c4e'.repeat(4)}`),
  successor: nullable(
    text(
      'A chave que `key.roll` criou; `null` nas outras ações e nas trocas anteriores a este campo.',
      null,
    ),
  ),
  request_id: nullable(
    text('O `Request-Id` da chamada; `null` para um comando.', `req_${'3f2a9c4e'.repeat(4)}`),
  ),
  outcome: oneOf(
    auditOutcomes,
    '`failed`: nada mudou. `unknown`: o processo terminou, ou o armazenamento não respondeu, antes de registrar o desfecho; a mudança pode existir.',
    'done',
  ),
})

const UsageDay = resource('UsageDay', 'As chamadas de uma chave em um dia.', {
  day: Type.String({ format: 'date', description: 'O dia em UTC.', examples: ['2026-11-23'] }),
  key_id: text('A chave.', `key_${'3f2a9c4e'.repeat(4)}`),
  requests: integer(1, 'Toda resposta autenticada, `304` e `429` inclusive.', 120),
  by_status: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: 'Respostas por status.',
    examples: [{ 200: 118, 429: 2 }],
  }),
  rate_limited: integer(0, 'Quantas delas foram `429`.', 2),
})

const Usage = resource(
  'Usage',
  'O uso de uma conta por dia e chave, com até 10 segundos de atraso.',
  {
    object: kind('usage'),
    data: Type.Array(UsageDay, { description: 'Por dia e depois por chave; dias sem uso faltam.' }),
  },
)

const ConsoleLink = resource('ConsoleLink', 'Um link que abre o painel uma única vez.', {
  url: Type.Optional(
    text(
      'O endereço, com o token no fragmento. Vale 60 segundos. Falta quando a resposta é a repetição de um `Idempotency-Key`.',
      'https://painel.exemplo.com.br/painel#…',
    ),
  ),
  expires_at: instant('Até quando o link pode ser aberto.', AT),
})

const lineProperties = {
  line: integer(1, 'A linha, ou a posição na lista, a partir de 1.', 1),
  id: nullable(text('O pedido; `null` quando não pôde ser lido.', 'ord_1aB2cD3eF4gH5iJ6')),
  result: oneOf(
    lineResults,
    '`written`: gravado. `unchanged`: versão nova que não muda nada visível. `older`: versão igual ou mais antiga que a gravada. `accepted`: na fila, em disco. `refused`: recusado; corrija e envie de novo.',
    'written',
  ),
  path: Type.Optional(text('O campo recusado, como ponteiro JSON.', '/payments/0/amount')),
  reason: Type.Optional(text('Por que a linha foi recusada, em inglês.', 'is missing')),
} satisfies TProperties

const SourceOrderResults = resource('SourceOrderResults', 'O resultado de cada linha.', {
  object: kind('source_order_results'),
  refused: integer(0, 'Quantas linhas foram recusadas.', 0),
  data: Type.Array(resource('SourceOrderResult', 'O resultado de uma linha.', lineProperties), {
    description: 'Na ordem das linhas.',
  }),
})

const resources = [
  ...[ApiKey, CreatedApiKey, Account, WebhookEndpoint, CreatedWebhookEndpoint, RolledSecret],
  ...[
    EnabledWebhookEndpoint,
    WebhookDelivery,
    WebhookReplay,
    Usage,
    AuditEntry,
    ConsoleLink,
    SourceOrderResults,
  ],
  ...[SandboxOrder, SandboxScenario],
]

const lists: Record<string, Json> = {
  ApiKeyList: listSchema('ApiKey', 'Uma página de chaves.', 'Da mais antiga à mais nova.'),
  WebhookEndpointList: listSchema(
    'WebhookEndpoint',
    'Uma página de endpoints.',
    'Do mais antigo ao mais novo.',
  ),
  WebhookDeliveryList: listSchema(
    'WebhookDelivery',
    'Uma página de entregas.',
    'Da mais nova à mais antiga.',
  ),
  SandboxOrderList: listSchema(
    'SandboxOrder',
    'Uma página de pedidos do sandbox.',
    'Do mais novo ao mais antigo.',
  ),
  SandboxScenarioList: listSchema('SandboxScenario', 'Os cenários.', 'Por tema.'),
  AuditEntryList: listSchema(
    'AuditEntry',
    'Uma página do registro de auditoria.',
    'Da mudança mais nova à mais antiga.',
  ),
}

const { invalid_request, invalid_api_key, resource_missing, internal_error, service_unavailable } =
  errorCatalogue

/** The errors of the management API, in the order of their status. */
export const managementErrorCatalogue = {
  ...{ invalid_request, invalid_api_key },
  forbidden_role: managementErrors.forbidden_role,
  resource_missing,
  conflict: managementErrors.conflict,
  ...{ internal_error, service_unavailable },
}

/** The named schemas of the management API. */
export function managementSchemas(): Record<string, Json> {
  return {
    ...Object.assign({}, ...resources.map(schemasIn)),
    ...lists,
    SourceOrder: { description: SOURCE_ORDER, ...sourceSchema(SourceOrder) },
    SourceDeletion: { description: SOURCE_DELETION, ...sourceSchema(SourceDeletion) },
    Error: errorSchema(managementErrorCatalogue, limitHelp(MAX_LIST_ITEMS)),
  }
}

const SOURCE_ORDER =
  'Uma versão de um pedido, inteira. Campos desconhecidos são ignorados; um campo opcional ausente é `null`. Valores em dinheiro são inteiros em centavos.'
const SOURCE_DELETION = 'Apaga um pedido e os dados do comprador. É a versão seguinte dele.'
