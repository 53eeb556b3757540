import { Type } from '@sinclair/typebox'
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
import { deliveryStates } from '../../webhooks/deliveries/delivery.ts'
import { payloadKinds } from '../../webhooks/endpoints/endpoint.ts'
import { eventTypes, TEST_EVENT } from '../../webhooks/events/event-types.ts'
import { ALL_EVENTS } from '../../webhooks/management/endpoint-settings.ts'
import { describeStatus } from '../../webhooks/sending/send-failure.ts'
import { AT, HEX, kind } from './schema-parts.ts'

const settings = {
  object: kind('webhook_endpoint'),
  id: pattern('^we_[0-9a-f]{32}$', 'Identifica o endpoint.', `we_${HEX}`),
  account_id: text('A conta cujos eventos ele recebe.', 'acc_1'),
  test: Type.Boolean({ description: 'Se ele recebe os eventos do sandbox.', examples: [false] }),
  url: text('O endereço que recebe os eventos.', 'https://loja.exemplo.com.br/pedidos'),
  events: Type.Array(
    openList([ALL_EVENTS, ...eventTypes], 'Um tipo de evento, ou `*` sozinho.', 'order.paid'),
    { description: 'Os tipos que ele recebe; `["*"]` para todos.', examples: [['order.paid']] },
  ),
  payload: oneOf(payloadKinds, '`thin` envia só o id do pedido.', 'full'),
  status: oneOf(['enabled', 'disabled'], 'Desativado, retém os eventos por 7 dias.', 'enabled'),
  description: nullable(text('O texto que você deu.', 'ERP')),
}
const secret = Type.Optional(
  pattern(
    '^whsec_',
    'O segredo que assina os eventos, que aparece só nesta resposta. Falta quando a resposta é a repetição de um `Idempotency-Key`.',
    'whsec_…',
  ),
)
const starts_at = instant('Os eventos registrados a partir daqui são entregues.', AT)

const shown = {
  ...settings,
  starts_at,
  failing_since: nullable(
    instant(
      'A primeira falha desde o último sucesso. Desativado, o endpoint a conserva também com outra `url`.',
      AT,
    ),
  ),
  disabled_reason: nullable(
    oneOf(
      ['manual', 'failing', 'gone'],
      '`failing`: 72 horas sem sucesso. `gone`: ele respondeu `410`.',
      'manual',
    ),
  ),
}

export const WebhookEndpoint = resource(
  'WebhookEndpoint',
  'Um endereço que recebe os eventos de uma conta, sem o segredo.',
  shown,
)

export const EnabledWebhookEndpoint = resource(
  'EnabledWebhookEndpoint',
  'Um endpoint que foi ativado, sem o segredo.',
  {
    ...shown,
    failed_since: nullable(
      instant(
        'A primeira falha antes de ser ativado, ou o início da retenção, se ela for mais antiga; `null` sem falhas. Repita desde ela, com `replay`, o que falhou ou expirou.',
        AT,
      ),
    ),
  },
)

export const CreatedWebhookEndpoint = resource(
  'CreatedWebhookEndpoint',
  'Um endpoint novo, com o seu segredo.',
  { ...settings, secret, starts_at },
)

export const RolledSecret = resource('RolledSecret', 'O segredo novo de um endpoint.', {
  secret,
  old_secret_ends_at: instant('Até quando o segredo anterior também assina.', AT),
})

const attempt = resource('WebhookAttempt', 'Uma tentativa de entrega.', {
  at: instant('Quando foi feita.', AT),
  status: nullable(integer(100, 'O status da resposta; `null` sem resposta.', 503)),
  error: nullable(text('Por que falhou, em inglês; `null` para um `2xx`.', describeStatus(503))),
  duration_ms: Type.Number({ minimum: 0, description: 'Quanto durou.', examples: [84] }),
})

export const WebhookDelivery = resource(
  'WebhookDelivery',
  'A entrega de um evento a um endpoint. O corpo enviado não é guardado.',
  {
    object: kind('webhook_delivery'),
    id: pattern('^dlv_', 'Identifica a entrega.', `dlv_${HEX}`),
    event_id: text('O evento: o `webhook-id` da requisição.', 'evt_4bC0dE1fG2hI3jK4lM5nO6pQ'),
    type: openList([...eventTypes, TEST_EVENT], 'O tipo do evento.', 'order.paid'),
    order_id: nullable(text('O pedido; `null` em um teste.', 'ord_1aB2cD3eF4gH5iJ6')),
    sequence: nullable(integer(1, 'A ordem do evento no pedido; `null` em um teste.', 3)),
    state: oneOf(
      deliveryStates,
      '`held`: espera o endpoint ser ativado. `failed`: as tentativas acabaram. `expired`: ficou retida por mais de 7 dias. `canceled`: o endpoint ou o pedido deixou de existir.',
      'delivered',
    ),
    next_at: nullable(instant('A próxima tentativa; `null` quando não há.', AT)),
    attempts: Type.Array(attempt, { description: 'Da mais antiga à mais nova.' }),
  },
)

export const WebhookReplay = resource('WebhookReplay', 'O resultado de uma repetição.', {
  replayed: integer(0, 'Quantas entregas foram postas de novo na fila.', 12),
})
