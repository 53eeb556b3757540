import { NoFields } from '../../../http/management/body.ts'
import {
  CreateEndpoint,
  Replay,
  RollSecret,
  UpdateEndpoint,
} from '../../../http/management/webhook-bodies.ts'
import { deliveryStates } from '../../../webhooks/deliveries/delivery.ts'
import { MAX_OWN_ENDPOINTS } from '../../../webhooks/management/endpoint-settings.ts'
import { account, idIn, type OperationSpec, operations, page, query } from '../operation.ts'

const tag = 'Webhooks'
const endpoint = idIn('we', 'O id do endpoint.')
const delivery = idIn('dlv', 'O id da entrega.')
const noFields = { of: NoFields, example: {} }
const oneEndpoint = { status: 200, description: 'O endpoint.', schema: 'WebhookEndpoint' } as const
const oneDelivery = { status: 200, description: 'A entrega.', schema: 'WebhookDelivery' } as const

/** The circuit breaker lets single attempts through, of the delivery that is due first. */
const PROBES =
  'Com o disjuntor aberto, espera a vez entre as sondas; corrigido o receptor, `enable` o fecha, também num endpoint ativo.'

const onEndpoint = {
  tag,
  parameters: [account, endpoint],
  errorCodes: ['endpoint_missing'],
} satisfies Partial<OperationSpec>

/** The operations on webhook endpoints and on deliveries. */
export const webhookPaths = operations({
  '/v1/accounts/{account}/webhook-endpoints': {
    get: {
      operationId: 'webhook_endpoints_list',
      tag,
      summary: 'Lista os endpoints de uma conta',
      description: 'Sem os segredos e sem os endpoints removidos.',
      parameters: [account, ...page],
      response: { status: 200, description: 'Uma página.', schema: 'WebhookEndpointList' },
    },
    post: {
      operationId: 'webhook_endpoints_create',
      tag,
      summary: 'Cria um endpoint',
      description: `O segredo aparece só nesta resposta. Sem \`events\`, o endpoint recebe todos os tipos; sem \`payload\`, o pedido inteiro. Em uma sessão do painel, até ${MAX_OWN_ENDPOINTS} endpoints da conta e outros ${MAX_OWN_ENDPOINTS} do sandbox.`,
      parameters: [account],
      body: {
        of: CreateEndpoint,
        example: { url: 'https://loja.exemplo.com.br/pedidos', events: ['order.paid'] },
      },
      response: { status: 201, description: 'O endpoint.', schema: 'CreatedWebhookEndpoint' },
      errorCodes: ['invalid_url', 'too_many_endpoints'],
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}': {
    get: {
      operationId: 'webhook_endpoints_get',
      tag,
      summary: 'Busca um endpoint',
      description: 'O estado e as configurações de um endpoint.',
      parameters: [account, endpoint],
      response: oneEndpoint,
      errorCodes: ['endpoint_missing'],
    },
    patch: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_update',
      summary: 'Altera um endpoint',
      description: 'Muda só os campos enviados. Vale em até 5 segundos.',
      body: { of: UpdateEndpoint, example: { events: ['*'] }, rules: { minProperties: 1 } },
      response: oneEndpoint,
      errorCodes: ['endpoint_missing', 'invalid_url'],
    },
    delete: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_delete',
      summary: 'Remove um endpoint',
      description: 'As entregas pendentes são canceladas. Não há volta.',
      response: oneEndpoint,
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/enable': {
    post: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_enable',
      summary: 'Ativa um endpoint',
      description:
        'Envia, em ordem, o que ficou retido. O que falhou ou expirou só volta com `replay`, desde `failed_since`. Num endpoint ativo, fecha o disjuntor: o que já devia ter saído é enviado.',
      body: noFields,
      response: { status: 200, description: 'O endpoint.', schema: 'EnabledWebhookEndpoint' },
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/disable': {
    post: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_disable',
      summary: 'Desativa um endpoint',
      description: 'Retém os eventos por 7 dias, até que ele seja ativado.',
      body: noFields,
      response: oneEndpoint,
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/roll-secret': {
    post: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_roll_secret',
      summary: 'Troca o segredo de um endpoint',
      description:
        'Por `overlap_seconds`, os dois segredos assinam; 24 horas por padrão, 7 dias no máximo. Uma segunda troca nesse prazo encerra na hora o mais antigo. Se a resposta se perdeu, troque de novo e configure o segredo novo no receptor em seguida: o que ele recusar até lá é tentado de novo.',
      body: { of: RollSecret, example: { overlap_seconds: 86_400 } },
      response: { status: 200, description: 'O segredo novo.', schema: 'RolledSecret' },
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/test': {
    post: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_test',
      summary: 'Envia um evento de teste',
      description: `Um evento \`webhook.test\`. A resposta não espera a tentativa: busque a entrega. ${PROBES}`,
      body: noFields,
      response: oneDelivery,
      errorCodes: ['endpoint_missing', 'endpoint_disabled'],
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/replay': {
    post: {
      ...onEndpoint,
      operationId: 'webhook_endpoints_replay',
      summary: 'Repete entregas desde um instante',
      description:
        'Envia de novo os eventos desde `since`, e os anteriores, não entregues, que começaram a falhar ou foram retidos desde então. Com `failed`, só o que falhou ou expirou. Os ids não mudam. `since` é um instante que já passou, dentro da retenção das entregas: 30 dias por padrão.',
      body: { of: Replay, example: { since: '2026-11-23T12:00:00Z', failed: true } },
      response: { status: 200, description: 'Quantas são.', schema: 'WebhookReplay' },
      errorCodes: ['endpoint_missing', 'endpoint_disabled', 'invalid_since'],
    },
  },
  '/v1/accounts/{account}/webhook-endpoints/{id}/deliveries': {
    get: {
      operationId: 'deliveries_list',
      tag,
      summary: 'Lista as entregas de um endpoint',
      description:
        'As entregas que o serviço guarda, com as tentativas: por padrão, as dos últimos 30 dias.',
      parameters: [
        account,
        endpoint,
        query(
          'state',
          'Só as entregas neste estado; `failed` inclui as `expired`.',
          { type: 'string', enum: [...deliveryStates] },
          'failed',
        ),
        ...page,
      ],
      response: { status: 200, description: 'Uma página.', schema: 'WebhookDeliveryList' },
      errorCodes: ['endpoint_missing'],
    },
  },
  '/v1/accounts/{account}/deliveries/{id}': {
    get: {
      operationId: 'deliveries_get',
      tag,
      summary: 'Busca uma entrega',
      description: 'O estado de uma entrega, com as tentativas.',
      parameters: [account, delivery],
      response: oneDelivery,
      errorCodes: ['delivery_missing'],
    },
  },
  '/v1/accounts/{account}/deliveries/{id}/resend': {
    post: {
      operationId: 'deliveries_resend',
      tag,
      summary: 'Reenvia uma entrega',
      description: `Entra na fila na hora e com o mesmo \`webhook-id\`, também depois de um \`2xx\`. ${PROBES}`,
      parameters: [account, delivery],
      body: noFields,
      response: oneDelivery,
      errorCodes: [
        'delivery_missing',
        'endpoint_deleted',
        'endpoint_disabled',
        'order_removed',
        'delivery_busy',
      ],
    },
  },
})
