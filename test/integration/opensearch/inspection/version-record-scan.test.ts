import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import type { OrderVersionRecord } from '../../../../src/indexing/writer/version-record.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import {
  connectOpenSearch,
  type OpenSearch,
} from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import { scanVersionRecords } from '../../../../src/stores/opensearch/inspection/version-record-scan.ts'
import { collect } from '../../../support/orders/collect.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'
import { type Backend, createBackend, opensearch } from '../../../support/stores/backend.ts'
import { writeBulk } from '../../../support/stores/bulk.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'

const orderIds = Array.from({ length: 7 }, (_, n) => `ord_${n}`)
const recordOf = (orderId: string) => versionRecord({ orderId })

describe('a scan of the version records', () => {
  let backend: Backend
  let services: Services
  let client: OpenSearch
  let prefix: string
  beforeEach(async () => {
    backend = createBackend()
    const config = parseConfig(backend.env)
    prefix = config.indexPrefix
    services = await openServices(config)
    client = connectOpenSearch({ urls: (process.env['OPENSEARCH_URL'] ?? '').split(',') })
    await putHeads(orderIds.map(recordOf))
  })
  afterEach(async () => {
    await client.close()
    await services.close()
    await backend.remove()
  })

  async function putHeads(versionRecords: OrderVersionRecord[]) {
    const index = await services.openIndex()
    await writeBulk(index, () => ({ views: [], removals: [], eventRecords: [], versionRecords }))
    await index.close()
  }

  const pages = (pageSize: number) =>
    scanVersionRecords({ client, names: indexNames(prefix), deadlineMs: GENEROUS_MS, pageSize })

  async function openPointsInTime(): Promise<number> {
    interface Stats {
      _all: { total: { search: { point_in_time_current: number } } }
    }
    const { _all } = await opensearch<Stats>('GET', `${prefix}order-heads/_stats/search`)
    return _all.total.search.point_in_time_current
  }

  it.each([3, 7, 100])(
    'the scan returns every version record once, in pages of %d',
    async (pageSize) => {
      const walked = await collect(pages(pageSize))
      expect(walked.every((page) => page.length <= pageSize)).toBe(true)
      const heads = walked.flat().toSorted((one, other) => (one.orderId < other.orderId ? -1 : 1))
      expect(heads).toMatchObject(orderIds.map(recordOf))
    },
  )

  it('concurrent writes do not change the result of a scan', async () => {
    const seen: string[] = []
    for await (const page of pages(3)) {
      seen.push(...page.map(({ orderId }) => orderId))
      await putHeads([recordOf(`ord_new_${seen.length}`)])
      await backend.refresh()
    }
    expect(seen).toHaveLength(orderIds.length)
    expect(new Set(seen)).toEqual(new Set(orderIds))
  })

  it('a completed scan closes its point in time', async () => {
    for await (const _ of pages(3)) expect(await openPointsInTime()).toBe(1)
    expect(await openPointsInTime()).toBe(0)
  })

  it('an abandoned scan closes its point in time', async () => {
    for await (const _ of pages(3)) break
    expect(await openPointsInTime()).toBe(0)
  })
})

describe('a scan of the version records fails', () => {
  const { serve, connect } = useScriptedNodes()

  const refreshed = respond(200, { _shards: { total: 1, successful: 1, failed: 0 } })
  const oneIndex = respond(200, { 'order-heads-v1': { aliases: { 'order-heads': {} } } })
  const oneShard = respond(200, {
    'order-heads-v1': { settings: { index: { number_of_shards: '1' } } },
  })
  const opened = respond(200, { pit_id: 'pit_1' })
  const whole = { timed_out: false, _shards: { total: 1, successful: 1, failed: 0 } }

  async function walk(...behaviours: Behaviour[]) {
    const { url, received } = await serve(oneIndex, refreshed, oneShard, ...behaviours)
    const { client } = connect([url])
    const error = await thrownBy(
      collect(scanVersionRecords({ client, names, deadlineMs: GENEROUS_MS })),
    )
    return { error, received }
  }

  it.each<[what: string, body: object]>([
    ['that timed out', { ...whole, timed_out: true, hits: { hits: [] } }],
    [
      'with a failed shard',
      { ...whole, _shards: { total: 1, successful: 0, failed: 1 }, hits: {} },
    ],
    ['without hits', whole],
    [
      'with a hit without its version record',
      { ...whole, hits: { hits: [{ _id: 'ord_1', sort: [0] }] } },
    ],
  ])('a scan fails on a response %s and closes its point in time', async (_what, body) => {
    const { error, received } = await walk(opened, respond(200, body), respond(200, {}))
    expect(error).toBeInstanceOf(Unavailable)
    const { method, path, body: closing = '' } = received.at(-1) ?? {}
    expect([method, path]).toEqual(['DELETE', '/_search/point_in_time'])
    expect(JSON.parse(closing)).toEqual({ pit_id: ['pit_1'] })
  })

  it('a scan fails when the response has no point in time', async () => {
    const { error } = await walk(respond(200, {}))
    expect(error).toMatchObject({
      message: expect.stringContaining('point in time for order-heads'),
    })
  })

  it('a scan whose point in time expired fails with the next step', async () => {
    const lost = respondError(404, 'search_phase_execution_exception')
    const { error } = await walk(opened, lost, respond(404, {}))
    expect(error).toBeInstanceOf(Unavailable)
    expect(error).toMatchObject({ message: expect.stringContaining('try again') })
  })
})
