import { Type } from '@sinclair/typebox'
import { sandboxMoves } from '../../management/sandbox/sandbox-moves.ts'
import { orderStatuses, paymentStatuses } from '../../orders/order-values.ts'
import { instant, integer, nullable, oneOf, resource, text } from '../../orders/schema/types.ts'
import { AT, kind } from './schema-parts.ts'

export const SandboxScenario = resource('SandboxScenario', 'Como um pedido do sandbox começa.', {
  object: kind('sandbox_scenario'),
  id: text('O que se envia em `scenario`.', 'pix_awaiting'),
  description: text('O que acontece no pedido.', 'PIX emitido, à espera do pagamento'),
})

export const SandboxOrder = resource('SandboxOrder', 'Um pedido do sandbox, e o que ele permite.', {
  object: kind('sandbox_order'),
  id: text('O id do pedido, o mesmo da API pública.', 'ord_test_3f2a9c4e7b1d4f6a8c0e2b4d'),
  account_id: text('A conta do sandbox.', 'acc_1'),
  scenario: text('Como ele começou.', 'pix_awaiting'),
  version: integer(1, 'Aumenta a cada mudança.', 1),
  status: nullable(oneOf(orderStatuses, 'O status do pedido; `null` se apagado.', 'PAID')),
  payment_status: nullable(
    oneOf(paymentStatuses, 'O status do último pagamento; `null` se apagado.', 'PAID'),
  ),
  erased: Type.Boolean({ description: 'Se o pedido foi apagado.', examples: [false] }),
  moves: Type.Array(oneOf(sandboxMoves, 'Uma mudança.', 'refund'), {
    description: 'As mudanças que o pedido permite agora.',
    examples: [['refund', 'dispute', 'erase']],
  }),
  created_at: instant('Quando foi criado no sandbox.', AT),
})
