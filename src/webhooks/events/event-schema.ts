import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Order, orderIdPattern } from '../../orders/order.ts'
import { Payment } from '../../orders/schema/payment.ts'
import {
  alwaysNull,
  instant,
  integer,
  openList,
  pattern,
  resource,
  text,
} from '../../orders/schema/types.ts'
import { eventTypes, TEST_EVENT } from './event-types.ts'
import type { OrderState } from './order-state.ts'

/** The bodies of webhooks, for the API description and the types of the client. */

type Pair<T> = readonly [before: T | null, after: T | null]

/** `[before, after]` of a value of the order. TypeBox has no tuples of JSON Schema 2020-12. */
function pair<T extends TSchema>(schema: T, description: string, ...examples: unknown[]) {
  const { description: _text, examples: _values, ...rules } = schema
  const values = rules['enum'] && { enum: [...new Set([...rules['enum'], null])] }
  const value = { ...rules, ...values, type: [...new Set([rules['type'], 'null'].flat())] }
  return Type.Optional(
    Type.Unsafe<Pair<Static<T>>>({
      type: 'array',
      prefixItems: [value, value],
      minItems: 2,
      maxItems: 2,
      description,
      examples,
    }),
  )
}

const { status, amount_refunded, decline_code } = Payment.properties

export const OrderChange = resource(
  'OrderChange',
  'O que mudou, como `[antes, depois]`; só as chaves que mudaram. Em `order.created`, e nos outros eventos da mesma mudança, o valor de antes é `null`. Vazio em `order.updated` e em `order.removed`.',
  {
    status: pair(Order.properties.status, '`status` do pedido.', ['AWAITING_PAYMENT', 'PAID']),
    payment_status: pair(status, '`payment.status`.', ['PENDING', 'PAID']),
    last_payment_id: pair(
      text(''),
      'O pagamento mais recente: muda numa renovação, numa parcela ou numa nova tentativa.',
      ['pay_1', 'pay_2'],
    ),
    amount_refunded: pair(amount_refunded, '`payment.amount_refunded`, em centavos.', [null, 3000]),
    decline_code: pair(decline_code, '`payment.decline_code`, igual ao que a API devolve depois.', [
      null,
      'AB-0051',
    ]),
  } satisfies Record<keyof OrderState, TSchema>,
)

/** The fields of every event before `change`, in the order of the body. */
const envelope = <T extends TProperties>(type: TSchema, rest: T) => ({
  id: pattern(
    '^evt_[0-9A-Za-z]{24}$',
    'Identificador do evento, igual ao cabeçalho `webhook-id`: o mesmo em toda nova tentativa, reenvio e repetição.',
    'evt_4bC0dE1fG2hI3jK4lM5nO6pQ',
  ),
  type,
  timestamp: instant(
    'Instante em que a mudança foi registrada; nunca diminui nos eventos de um pedido, exceto se a plataforma corrigir um relógio que estava adiantado.',
    '2026-03-01T12:05:00.000Z',
  ),
  account_id: text('A conta que recebe o evento.', 'acc_1'),
  test: Type.Optional(
    Type.Literal(true, {
      description: 'Só nos eventos do sandbox, que só os endpoints de teste recebem.',
      examples: [true],
    }),
  ),
  ...rest,
})

export const OrderEvent = resource(
  'OrderEvent',
  'Um evento de um pedido. `data` é o pedido, com os mesmos bytes de `GET /v1/orders/{id}`; falta em `order.removed`, quando o endpoint é `thin`, e quando o corpo passaria de 256 KB. Um tipo que você não conhece tem esta mesma forma.',
  {
    ...envelope(
      openList(
        eventTypes,
        'O que aconteceu. A lista pode crescer: responda 2xx a um tipo que não conhecer.',
        'order.paid',
      ),
      {
        order_id: pattern(orderIdPattern, 'O pedido.', 'ord_1aB2cD3eF4gH5iJ6'),
        sequence: integer(
          1,
          'Conta os eventos do pedido. Lacunas são normais; descarte um evento de `timestamp` menor que o que você já tem, ou do mesmo `timestamp` e de `sequence` menor.',
          3,
        ),
      },
    ),
    change: OrderChange,
    data: Type.Optional(Order),
  },
)

export const WebhookTestEvent = resource(
  'WebhookTestEvent',
  'O evento que `webhooks test` envia; não se refere a nenhum pedido.',
  {
    ...envelope(Type.Literal(TEST_EVENT, { description: `Sempre \`${TEST_EVENT}\`.` }), {
      order_id: alwaysNull('string', 'Sempre `null`.', null),
      sequence: alwaysNull('integer', 'Sempre `null`.', null),
    }),
    change: Type.Object({}, { description: 'Sempre vazio.', maxProperties: 0, examples: [{}] }),
  },
)

/** The body of a webhook. Only `order_id` separates its kinds, because types can be added. */
export const WebhookEvent = Type.Union([OrderEvent, WebhookTestEvent], {
  title: 'WebhookEvent',
  description: 'O corpo de um webhook. Só o de teste tem `order_id` nulo.',
})
export type WebhookEvent = Static<typeof WebhookEvent>
