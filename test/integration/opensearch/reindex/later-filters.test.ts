import { beforeEach, expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { FilterUnavailableError } from '../../../../src/orders/filters/filter-unavailable-error.ts'
import { noFilters, type OrderFilters } from '../../../../src/orders/filters/filters.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()
const BUYER = 'rita@exemplo.com.br'

async function write(...ids: string[]): Promise<void> {
  const index = await test.services.openIndex()
  const orders = ids.map((id) => sourceOrder({ id, coproducer_account_ids: ['acc_2'] }))
  await createWriter(index, Date.now).write(orders.map(changeOf), 'live')
  await index.close()
  await test.refresh()
}

async function ids(filters: Partial<OrderFilters>, accountId = 'acc_2'): Promise<string[]> {
  const page = await test.services.orders.findPage({
    ...{ accountId, sort: 'created_at_desc', after: null, nullsWrittenAfter: null, size: 10 },
    filters: { ...noFilters, ...filters },
  })
  return page.map(({ id }) => id)
}

/** Leaves the live index as an earlier release would: no document has the keys of later filters. */
async function downgrade(index: string): Promise<void> {
  const names = ['frame', 'paid_key', 'customer_email', 'customer_document', 'product_ids']
  const source = names.map((name) => `ctx._source.remove('${name}');`).join(' ')
  const path = `${test.prefix}${index}/_update_by_query?refresh=true&conflicts=proceed`
  await opensearch('POST', path, { script: { source } })
  const remove = { index: `${test.prefix}${index}`, alias: `${test.prefix}orders-filterable` }
  await opensearch('POST', '_aliases', { actions: [{ remove }] })
}

async function refusedParam(filters: Partial<OrderFilters>): Promise<string> {
  const error = await ids(filters).catch((thrown: unknown) => thrown)
  if (error instanceof FilterUnavailableError) return error.param
  throw new Error('expected a refusal', { cause: error })
}

beforeEach(async () => {
  await write('ord_1', 'ord_2')
  await downgrade('orders-v1')
})

const laterFilters: [string, Partial<OrderFilters>][] = [
  ['product_id', { productIds: ['prod_1'] }],
  ['customer_email', { customerEmails: [BUYER] }],
  ['customer_document', { customerDocuments: ['12345678909'] }],
  ['paid_gte', { paid: { gte: 0, lt: 1 } }],
  ['paid_lt', { paid: { lt: 1 }, statuses: ['PAID'] }],
]

it.each(laterFilters)('an index of an earlier release refuses %s', async (param, filters) => {
  expect(await refusedParam(filters)).toBe(param)
})

it('an index of an earlier release serves all other filters', async () => {
  expect(await ids({ statuses: ['PAID'], created: { gte: 0 } })).toEqual(['ord_2', 'ord_1'])
})

it('an index of an earlier release refuses later filters also after a write with their keys', async () => {
  await write('ord_3')
  expect(await refusedParam({ customerEmails: [BUYER] })).toBe('customer_email')
})

it('a reindex adds the keys, and a rollback refuses the filters again', async () => {
  await test.reindexing.build()
  expect(await ids({ customerEmails: [BUYER], productIds: ['prod_1'] })).toEqual(['ord_2', 'ord_1'])
  expect(await ids({ paid: { gte: 0 } })).toEqual([])
  await test.reindexing.rollBack()
  expect(await refusedParam({ customerEmails: [BUYER] })).toBe('customer_email')
})

it('a write of an earlier release after the reindex ends the filters with the next writer', async () => {
  await test.reindexing.build()
  await downgrade('orders-v2')
  await write('ord_3')
  expect(await refusedParam({ customerEmails: [BUYER] })).toBe('customer_email')
})

it('index status names the refused filters and the command that adds them', async () => {
  const before = await test.run('status')
  expect(before.stdout).toContain(
    'product_id, customer_email, customer_document: the index lacks them; "index reindex" adds them',
  )
  await test.reindexing.build()
  const after = await test.run('status', '--json')
  expect(JSON.parse(after.stdout)).toMatchObject({ missing_filters: [] })
})
