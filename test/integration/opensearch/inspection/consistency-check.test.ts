import { describe, expect, it } from 'vitest'
import { checkIndex } from '../../../../src/indexing/consistency-check/check-index.ts'
import type { InspectedDocument } from '../../../../src/indexing/consistency-check/index-inspection.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import { scanIndex } from '../../../../src/stores/opensearch/inspection/document-scan.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { collect } from '../../../support/orders/collect.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { LEASE_MS, opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS, thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

/** Writes orders 0 to `count` − 1 of acc_1 and releases the lease. */
async function write(count: number): Promise<void> {
  const index = await test.services.openIndex()
  const orders = Array.from({ length: count }, (_, n) => changeOf(sourceOrder({ id: `ord_${n}` })))
  await createWriter(index, Date.now).write(orders, 'live')
  await index.close()
}

/** Writes a document directly to OpenSearch. */
const put = (id: string, source: object) =>
  opensearch('PUT', `${test.prefix}orders/_doc/${id}?routing=acc_1&refresh=true`, source)

const idOf = ({ address }: InspectedDocument) => `${address.accountId}:${address.orderId}`

async function walked(pageSize: number): Promise<string[][]> {
  const client = connectOpenSearch({ urls: (process.env['OPENSEARCH_URL'] ?? '').split(',') })
  const options = { client, names: indexNames(test.prefix), deadlineMs: GENEROUS_MS, pageSize }
  const pages = await collect(scanIndex(options)).finally(() => client.close())
  return pages.map((page) => page.map(idOf))
}

const checkAlone = () =>
  checkIndex({
    inspection: test.services.inspection,
    entries: [],
    isWhole: false,
    maxExamples: 10,
    pause: async () => {},
    onRejected() {},
    onProgress() {},
  })

describe('a scan', () => {
  it('a scan returns every document once, sorted by account and order', async () => {
    await write(7)
    const pages = await walked(3)
    expect(pages.length).toBeGreaterThan(2)
    expect(pages.flat()).toEqual(Array.from({ length: 7 }, (_, n) => `acc_1:ord_${n}`))
  })

  it('a scan returns two documents with equal sort keys across a page boundary', async () => {
    await write(3)
    await put('stray', { account_id: 'acc_1', id: 'ord_1' })
    const pages = await walked(2)
    expect(pages.flat().toSorted()).toEqual([':stray', 'acc_1:ord_0', 'acc_1:ord_1', 'acc_1:ord_2'])
  })

  it('a scan returns documents that were just written', async () => {
    await write(1)
    await opensearch('PUT', `${test.prefix}orders/_settings`, { index: { refresh_interval: -1 } })
    await opensearch('PUT', `${test.prefix}orders/_doc/acc_1:ord_9?routing=acc_1`, {
      account_id: 'acc_1',
      id: 'ord_9',
    })
    expect((await walked(10)).flat()).toEqual(['acc_1:ord_0', 'acc_1:ord_9'])
  })
})

describe('a check', () => {
  it.each<[what: string, id: string, source: object, fields: string[]]>([
    ['no key field at all', 'acc_1:ord_9', {}, ['account_id', 'id', 'shape', 'status']],
    ['no account', 'acc_1:ord_9', { id: 'ord_9', shape: 1, status: 'PAID' }, ['account_id', 'id']],
    [
      'a foreign id',
      'stray',
      { account_id: 'acc_1', id: 'ord_9', shape: 1 },
      ['account_id', 'id', 'status'],
    ],
  ])('the check finds a document with %s', async (_what, id, source, fields) => {
    await write(1)
    await put(id, source)
    const { examples, ...counts } = await checkAlone()
    expect(counts).toMatchObject({ documents: 2, without_key_field: 1, extra: 0 })
    expect(examples[0]?.fields).toEqual(expect.arrayContaining(fields))
  })

  it('the check finds a document of an account that its version record does not name', async () => {
    await write(1)
    const { _source } = await opensearch<{ _source: object }>(
      'GET',
      `${test.prefix}orders/_doc/acc_1:ord_0?routing=acc_1`,
    )
    await put('acc_9:ord_0', { ..._source, frame: undefined, account_id: 'acc_9' })
    expect(await checkAlone()).toMatchObject({
      extra: 1,
      without_key_field: 0,
      examples: [{ accountId: 'acc_9', orderId: 'ord_0' }],
    })
  })

  it('the check fails and names the alias while a filter hides orders from lists', async () => {
    await write(1)
    const alias = `${test.prefix}orders`
    const add = { index: `${alias}-v1`, alias, filter: { term: { status: 'PAID' } } }
    await opensearch('POST', '_aliases', { actions: [{ add }] })
    await expect(checkAlone()).rejects.toThrow(
      `the alias ${alias} has a filter, which hides orders of ${alias}-v1 from lists: add it without one`,
    )
  })

  it('the check lists every damaged version record with its document, and continues', async () => {
    await write(3)
    for (const id of ['ord_0', 'ord_2']) {
      await opensearch('POST', `${test.prefix}order-heads/_update/${id}`, { doc: { version: '1' } })
    }
    const { examples, ...counts } = await checkAlone()
    expect(counts).toMatchObject({
      known_orders: 3,
      documents: 3,
      damaged: 2,
      missing: 0,
      extra: 0,
    })
    const places = examples.map(({ orderId, what }) => [
      orderId,
      /version in [^)]+/.exec(what)?.[0],
    ])
    expect(places.toSorted()).toEqual(
      ['ord_0', 'ord_2'].map((id) => [id, `version in ${test.prefix}order-heads-v1/_doc/${id}`]),
    )
  })

  it('a missing index is reported with the next step', async () => {
    const error = await thrownBy(checkAlone())
    expect(error).toBeInstanceOf(Unavailable)
    expect(error).toMatchObject({
      message: expect.stringContaining('"index init", which creates it'),
    })
  })
})

describe('an overview', () => {
  const writer = async (waitMs: number) => (await test.services.inspection.overview(waitMs)).writer

  it('the overview reports a writer that renews its lease as alive', async () => {
    const index = await test.services.openIndex({ purpose: 'watch' })
    expect(await writer(GENEROUS_MS)).toMatchObject({
      purpose: 'watch',
      released: false,
      alive: true,
    })
    await index.close()
  })

  it('the overview reports liveness as unknown after too short an observation', async () => {
    const index = await test.services.openIndex()
    expect(await writer(0)).toMatchObject({ purpose: 'load', released: false, alive: null })
    await index.close()
  })

  it('the overview reports a writer that stopped renewing its lease as dead', async () => {
    await write(1)
    await opensearch('POST', `${test.prefix}writer/_update/orders?refresh=true`, {
      doc: { released: false, lease_ms: 1_000 },
    })
    expect(await writer(GENEROUS_MS)).toMatchObject({ released: false, alive: false })
  })

  it('the overview reports a released lease without waiting', async () => {
    await write(1)
    expect(await writer(0)).toMatchObject({ released: true, alive: false, leaseMs: LEASE_MS })
  })

  it('the overview lists the read index and the write targets', async () => {
    await write(2)
    await test.reindexing.build()
    const { indices } = await test.services.inspection.overview(0)
    const byName = indices.toSorted((one, other) => one.name.localeCompare(other.name))
    expect(byName).toMatchObject([
      { name: `${test.prefix}orders-v1`, read: false, fed: true, documents: 2 },
      { name: `${test.prefix}orders-v2`, read: true, fed: true, documents: 2 },
    ])
  })

  it('a missing index is reported with the next step', async () => {
    const error = await thrownBy(test.services.inspection.overview(0))
    expect(error).toMatchObject({
      message: expect.stringContaining('"index init", which creates it'),
    })
  })
})
