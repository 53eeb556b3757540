import { expect, it } from 'vitest'
import { summary } from '../../../../src/orders-command/sync/summary.ts'

const watermark = '2026-03-01T12:00:00.000Z'

it.each([
  [
    { received: 1_200, changes: 14, dropped: 3, watermark },
    '1.200 pedidos lidos (14 novos ou alterados), 3 removidos; cópia em dia até 2026-03-01T12:00:00.000Z',
  ],
  [
    { received: 1, changes: 1, dropped: 1, watermark },
    '1 pedido lido (1 novo ou alterado), 1 removido; cópia em dia até 2026-03-01T12:00:00.000Z',
  ],
  [
    { received: 0, changes: 0, dropped: 0, watermark: null },
    '0 pedidos lidos (0 novos ou alterados), 0 removidos; cópia em dia',
  ],
])('of %o', (result, text) => {
  expect(summary(result)).toBe(text)
})
