import { type TProperties, Type } from '@sinclair/typebox'
import { errorCatalogue, managementErrors } from '../../http/api-error.ts'
import { MAX_LIST_ITEMS } from '../../http/management/list-page.ts'
import { SourceDeletion, SourceOrder } from '../../indexing/projection/source-order.ts'
import { limitHelp } from '../../lib/page-limit.ts'
import { lineResults } from '../../management/ingestion/ingestion.ts'
import { integer, nullable, oneOf, resource, text } from '../../orders/schema/types.ts'
import { errorSchema, type Json, listSchema, schemasIn } from '../schemas.ts'
import { AuditEntry, ConsoleLink, Usage } from './activity-schemas.ts'
import { Account, ApiKey, CreatedApiKey } from './key-schemas.ts'
import { sourceSchema } from './request-schema.ts'
import { SandboxOrder, SandboxScenario } from './sandbox-schemas.ts'
import { kind } from './schema-parts.ts'
import {
  CreatedWebhookEndpoint,
  EnabledWebhookEndpoint,
  RolledSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookReplay,
} from './webhook-schemas.ts'

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
