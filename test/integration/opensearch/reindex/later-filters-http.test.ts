import { afterEach, beforeEach, expect, it } from 'vitest'
import { ordersDefinition } from '../../../../src/stores/opensearch/indices/index-definition.ts'
import { runProcess } from '../../../support/cli/command.ts'
import { createTestApp, type TestApp } from '../../../support/http/test-app.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'

const ORDERS = 2_000
const BUYER = 'rita@exemplo.com.br'

const laterFilters: [param: string, value: string][] = [
  ['product_id', 'prod_1'],
  ['customer_email', BUYER],
  ['customer_document', '12345678909'],
  ['paid_gte', '2020-01-01T00:00:00Z'],
  ['paid_lt', '2040-01-01T00:00:00Z'],
]

const paidByBuyer = {
  coproducer_account_ids: ['acc_2'],
  customer: { name: 'Rita Lima', email: BUYER, document: '12345678909' },
  paid_at: '2026-03-01T12:00:00Z',
}

let app: TestApp
let key: string
beforeEach(async () => {
  app = await createTestApp()
  ;({ key } = await app.issue({ accountId: 'acc_2' }))
  const ids = Array.from({ length: ORDERS }, (_, n) => `ord_${n}`)
  await app.load(ids.map((id) => sourceOrder({ id, ...paidByBuyer })))
  await toEarlierRelease(`${app.env['INDEX_PREFIX']}`)
})
afterEach(async () => {
  await app.close()
})

/** Replaces the live index with one of the mapping of an earlier release, with the same orders. */
async function toEarlierRelease(prefix: string): Promise<void> {
  const [live, copy] = [`${prefix}orders-v1`, `${prefix}earlier`]
  const { settings, mappings } = ordersDefinition
  const { paid_key, customer_email, customer_document, product_ids, ...properties } =
    mappings.properties
  const earlier = { settings, mappings: { ...mappings, properties } }
  const removed = Object.keys({ paid_key, customer_email, customer_document, product_ids })
  const source = ['frame', ...removed].map((name) => `ctx._source.remove('${name}');`).join(' ')
  const copyOrders = (from: string, to: string) =>
    opensearch('POST', '_reindex?refresh=true', {
      ...{ source: { index: from }, dest: { index: to }, script: { source } },
    })
  const { [live]: found } = await opensearch<Record<string, { aliases: Record<string, object> }>>(
    'GET',
    `${live}/_alias`,
  )
  const { [`${prefix}orders-filterable`]: _, ...aliases } = found?.aliases ?? {}
  await opensearch('PUT', copy, earlier)
  await copyOrders(live, copy)
  await opensearch('DELETE', `_index_template/${prefix}orders`) // It would add the fields.
  await opensearch('DELETE', live)
  await opensearch('PUT', live, { ...earlier, aliases })
  await copyOrders(copy, live)
  await opensearch('DELETE', copy)
}

const listing = (param: string, value: string) =>
  `/v1/orders?limit=2&${new URLSearchParams([[param, value]])}`

const statusOf = async (url: string) => (await app.call(url, { key })).status

it('an index without the fields of the later filters refuses each with a sentence, until a reindex', async () => {
  for (const [param, value] of laterFilters) {
    expect(await app.error(listing(param, value), { key })).toMatchObject({
      status: 400,
      param,
      message: expect.stringContaining(
        `O filtro ${param} ainda não está disponível: o serviço precisa`,
      ),
    })
  }
  expect(await statusOf('/v1/orders?status=PAID')).toBe(200)
  const { stdout } = await runProcess(['index', 'status'], app.env)
  for (const [param] of laterFilters) expect(stdout).toMatch(new RegExp(`${param}\\b.*lacks them`))

  const ended = new AbortController()
  const reindexing = runProcess(['index', 'reindex'], app.env).finally(() => ended.abort())
  const filtered: number[] = []
  const unfiltered = new Set<number>()
  while (!ended.signal.aborted) {
    filtered.push(await statusOf(listing('customer_email', BUYER)))
    unfiltered.add(await statusOf('/v1/orders?limit=2'))
  }
  expect(await reindexing).toMatchObject({ code: 0 })

  expect(unfiltered).toEqual(new Set([200]))
  expect(filtered[0]).toBe(400)
  expect(filtered.filter((status) => status !== 400 && status !== 200)).toEqual([])
  expect(filtered).toEqual(filtered.toSorted((one, other) => other - one)) // 400 until it is 200.
  for (const [param, value] of laterFilters) {
    const { data, has_more } = await app.list(listing(param, value).split('?')[1] ?? '', key)
    expect([data.length, has_more]).toEqual([2, true])
  }
  const after = await runProcess(['index', 'status', '--json'], app.env)
  expect(JSON.parse(after.stdout)).toMatchObject({ missing_filters: [] })
})
