import { expect, it } from 'vitest'
import { createIngestion } from '../../../../src/management/ingestion/ingestion.ts'
import { createStreamSink } from '../../../../src/management/ingestion/stream-sink.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

it('a line that the stream rejects is refused with its reason, and the others are accepted', async () => {
  const error = { path: '', reason: 'too large' }
  const stream = {
    append: async () => new Map([[1, error]]),
    backlog: async () => 0,
    close() {},
  }
  const orders = ['ord_1', 'ord_2', 'ord_3'].map((id) => sourceOrder({ id }))
  const body = Buffer.from(JSON.stringify([{}, ...orders]))
  const { ingest } = createIngestion(createStreamSink({ stream }))
  const { refused, data } = await ingest(body, 'application/json')
  expect(refused).toBe(2)
  expect(data.slice(1)).toEqual([
    { line: 2, id: 'ord_1', result: 'accepted' },
    { line: 3, id: 'ord_2', result: 'refused', ...error },
    { line: 4, id: 'ord_3', result: 'accepted' },
  ])
})
