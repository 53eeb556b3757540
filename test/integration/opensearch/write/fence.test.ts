import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { RequestRejectedError } from '../../../../src/stores/opensearch/client/errors.ts'
import { createFence } from '../../../../src/stores/opensearch/write/lease/fence.ts'
import { acceptAll } from '../../../support/stores/scripted/scripted-cluster.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  type ReceivedRequest,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

/** The tasks of a node by their opaque ids. */
const tasks = (...marks: (string | undefined)[]) =>
  respond(200, {
    nodes: {
      n1: { tasks: {} },
      n2: {
        tasks: Object.fromEntries(
          marks.map((mark, at) => [`n2:${at}`, { headers: mark ? { 'X-Opaque-Id': mark } : {} }]),
        ),
      },
    },
  })

/** The current aliases of the writer of epoch 6. */
const there = respond(200, {
  'orders-v1': { aliases: { 'orders-w-6-v1': {} } },
  'order-heads-v1': { aliases: { 'order-heads-w-6-v1': {} } },
})

/** The read alias. */
const reading = (...indices: string[]) =>
  respond(200, Object.fromEntries(indices.map((index) => [index, { aliases: { orders: {} } }])))
const readFirst = reading('orders-v1')

const filterable = (...indices: string[]) =>
  respond(
    200,
    Object.fromEntries(indices.map((index) => [index, { aliases: { 'orders-filterable': {} } }])),
  )
const counted = (count: number, failed = 0) =>
  respond(200, { count, _shards: { total: 3, successful: 3 - failed, failed } })

/** A shard without an active copy: OpenSearch reports no failure. */
const countedWithoutOneShard = respond(200, {
  count: 0,
  _shards: { total: 3, successful: 2, failed: 0 },
})

const nothingFound = respond(200, {
  timed_out: false,
  _shards: { total: 1, successful: 1, failed: 0 },
  hits: { hits: [] },
})

const oneShard = respond(200, {
  'orders-v2': { settings: { index: { number_of_shards: '1' } } },
})

/** A document that a bulk left in `orders-v2` only. */
const partialWrite = { _id: 'acc_1:ord_1', _version: 9, _seq_no: 3, _primary_term: 1 }
const partialWriteFound = respond(200, {
  timed_out: false,
  _shards: { total: 1, successful: 1, failed: 0 },
  hits: { hits: [{ _id: partialWrite._id, _routing: 'acc_1', sort: ['acc_1', 'ord_1'] }] },
})
const readAs =
  (partial: object): Behaviour =>
  (response, request) => {
    const document = request.path.startsWith('/orders-w-7-v2/')
      ? { ...partial, found: true, _source: { written_key: 9 } }
      : { _id: partialWrite._id, found: false }
    respond(200, { docs: [document] })(response, request)
  }

interface Cluster {
  aliases?: Behaviour
  search?: Behaviour
  read?: Behaviour
  documents?: Behaviour
  /** The indices with the alias for all filters. */
  filterable?: Behaviour
  /** How many documents lack the keys of later filters. */
  lacking?: Behaviour
  swap?: Behaviour
  /** Responses in sequence; the last one repeats. */
  tasks?: Behaviour[]
  refresh?: Behaviour
}

/** Raises the fence of epoch 7 in a scripted cluster and returns the received requests. */
async function raise(cluster: Cluster = {}, targets = ['orders-v1']) {
  const taskLists = [...(cluster.tasks ?? [tasks()])]
  const { url, received } = await serve((response, request) => {
    const { path } = request
    const swap = cluster.swap ?? respond(200, { acknowledged: true })
    const refresh =
      cluster.refresh ?? respond(200, { _shards: { total: 1, successful: 1, failed: 0 } })
    if (path === '/_aliases') swap(response, request)
    else if (path.startsWith('/_tasks'))
      (taskLists.length > 1 ? taskLists.shift() : taskLists[0])?.(response, request)
    else if (path.endsWith('/_refresh')) refresh(response, request)
    else if (path.includes('/_settings')) oneShard(response, request)
    else if (path.includes('/_search')) (cluster.search ?? nothingFound)(response, request)
    else if (path.includes('/_mget')) (cluster.documents ?? readAs(partialWrite))(response, request)
    else if (path.includes('/_bulk')) acceptAll(response, request)
    else if (path.includes('/_count')) (cluster.lacking ?? counted(0))(response, request)
    else if (path.startsWith('/orders-filterable/_alias/'))
      (cluster.filterable ?? filterable('orders-v1'))(response, request)
    else if (path.startsWith('/orders/_alias/')) (cluster.read ?? readFirst)(response, request)
    else (cluster.aliases ?? there)(response, request)
  })
  const delays: string[] = []
  const fence = createFence({
    client: connect([url]).client,
    names,
    deadlineMs: GENEROUS_MS,
    onDelay: (reason) => delays.push(reason),
  })
  const record = {
    holder: 'me',
    released: false,
    purpose: 'load' as const,
    lease_ms: 1,
    stamp_ceiling: 1,
    fed: [],
    stamped_live: false,
  }
  const result = await thrownBy(fence.raise({ ...record, epoch: 7, targets }))
  const isRaised = result instanceof Error ? undefined : result
  const error = result instanceof Error ? result : undefined
  return {
    isRaised,
    error,
    delays,
    received,
    paths: received.map(({ path }) => decodeURIComponent(path)),
  }
}

const aliasPath = (alias: string) => `/${alias}/_alias/${alias}?ignore_unavailable=true`

const swaps = (received: readonly ReceivedRequest[]) =>
  received.flatMap(({ path, body }) => (path === '/_aliases' ? [JSON.parse(body).actions] : []))
const swapped = (received: readonly ReceivedRequest[]) => swaps(received)[0]

describe('a fence', () => {
  it('a fence swaps the aliases, waits for bulks in flight and refreshes, in this order', async () => {
    const { isRaised, paths } = await raise()
    expect(isRaised).toBe(true)
    expect(paths).toEqual([
      aliasPath('orders'),
      aliasPath('orders-w-*,order-heads-w-*,order-events-w-*'),
      '/_aliases',
      '/_tasks?actions=indices:data/write/bulk*',
      '/orders-v1/_refresh',
      aliasPath('orders'),
      '/orders-w-7-v1/_count?preference=_primary&terminate_after=1',
      aliasPath('orders-filterable'),
    ])
  })

  it('a fence removes the write aliases of every other writer, as it read them', async () => {
    const { received } = await raise()
    expect(swapped(received)).toEqual([
      { remove: { index: 'orders-v1', alias: 'orders-w-6-v1', must_exist: true } },
      { remove: { index: 'order-heads-v1', alias: 'order-heads-w-6-v1', must_exist: true } },
      { add: { index: 'orders-v1', alias: 'orders-w-7-v1', is_write_index: true } },
      { add: { index: 'order-events-v1', alias: 'order-events-w-7-v1', is_write_index: true } },
      { add: { index: 'order-heads-v1', alias: 'order-heads-w-7-v1', is_write_index: true } },
    ])
  })

  it('the fence of the first writer removes no alias', async () => {
    const { received } = await raise({ aliases: respond(200, {}) })
    expect(swapped(received)).toEqual([
      { add: expect.objectContaining({ alias: 'orders-w-7-v1' }) },
      { add: expect.objectContaining({ alias: 'order-events-w-7-v1' }) },
      { add: expect.objectContaining({ alias: 'order-heads-w-7-v1' }) },
    ])
  })

  it('a fence creates one alias per target and refreshes all targets', async () => {
    const { received, paths } = await raise({}, ['orders-v1', 'orders-v2'])
    expect(swapped(received)).toEqual(
      expect.arrayContaining([
        { add: { index: 'orders-v1', alias: 'orders-w-7-v1', is_write_index: true } },
        { add: { index: 'orders-v2', alias: 'orders-w-7-v2', is_write_index: true } },
      ]),
    )
    expect(paths).toContain('/orders-v1,orders-v2/_refresh')
  })

  it('a fence moves the read alias to the first target atomically, which an older writer cannot', async () => {
    const { received, paths } = await raise({}, ['orders-v2', 'orders-v1'])
    const mine = { index: 'orders-v2', alias: 'orders-w-7-v2' }
    expect(swaps(received)[1]).toEqual([
      { remove: { ...mine, must_exist: true } },
      { add: { ...mine, is_write_index: true } },
      { remove: { index: 'orders-v1', alias: 'orders' } },
      { add: { index: 'orders-v2', alias: 'orders' } },
      { remove: { index: 'orders-v1', alias: 'orders-filterable' } },
      { add: { index: 'orders-v2', alias: 'orders-filterable' } },
    ])
    expect(paths.at(-1)).toBe('/_aliases')
  })

  it('a fence keeps the read alias when the first target is live', async () => {
    const { received } = await raise({}, ['orders-v1', 'orders-v2'])
    expect(swaps(received)).toHaveLength(1)
  })

  it.each<[string, Cluster, object[]]>([
    [
      'gains the alias for all filters once each document has their keys',
      { filterable: filterable() },
      [{ add: { index: 'orders-v1', alias: 'orders-filterable' } }],
    ],
    [
      'loses it after a write of an earlier release',
      { lacking: counted(1) },
      [{ remove: { index: 'orders-v1', alias: 'orders-filterable' } }],
    ],
    [
      'takes it from an index that is not live',
      { filterable: filterable('orders-v9') },
      [
        { remove: { index: 'orders-v9', alias: 'orders-filterable' } },
        { add: { index: 'orders-v1', alias: 'orders-filterable' } },
      ],
    ],
  ])('the live index %s', async (_what, cluster, changes) => {
    const { error, received } = await raise(cluster)
    expect(error).toBeUndefined()
    expect(swaps(received)[1]?.slice(2)).toEqual(changes)
  })

  it('an index without the keys of later filters becomes live without their alias', async () => {
    const { received } = await raise({ lacking: counted(1) }, ['orders-v2', 'orders-v1'])
    expect(swaps(received)[1]?.slice(2)).toEqual([
      { remove: { index: 'orders-v1', alias: 'orders' } },
      { add: { index: 'orders-v2', alias: 'orders' } },
      { remove: { index: 'orders-v1', alias: 'orders-filterable' } },
    ])
  })

  it('a fence reads documents and counts from primaries alone, since a replica may lack writes', async () => {
    const targets = ['orders-v1', 'orders-v2']
    const { received } = await raise({ search: partialWriteFound }, targets)
    const counting = await raise({}, targets)
    const reads = [...received, ...counting.received].flatMap(({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://x')
      const [, operation] = /_(mget|search|count)$/.exec(pathname) ?? []
      return operation ? [`${operation} ${searchParams.get('preference')}`] : []
    })
    expect([...new Set(reads)].sort()).toEqual([
      'count _primary',
      'mget _primary',
      'search _primary',
      'search _shards:0|_primary',
    ])
  })

  it('a fence reads through the aliases of its epoch, which a node that missed it does not know', async () => {
    const targets = ['orders-v1', 'orders-v2']
    const { received } = await raise({ search: partialWriteFound }, targets)
    const reads = received.filter(({ path }) => /_(mget|search|count)/.test(path))
    const read = reads.map(({ path }) => path.split('/')[1])
    expect([...new Set(read)].sort()).toEqual(['orders-w-7-v1', 'orders-w-7-v2'])
  })

  it('a fence that reverted a write must be raised at the next epoch', async () => {
    const targets = ['orders-v1', 'orders-v2']
    const { isRaised, paths, received } = await raise({ search: partialWriteFound }, targets)
    expect(isRaised).toBe(false)
    expect(paths.at(-1)).toContain('/_bulk')
    // Otherwise the next bulk may conflict with the revert.
    expect(received.at(-1)?.body).toContain('"version":9,"version_type":"external_gte"')
  })

  it('a fence reverts no document that OpenSearch returns without its version', async () => {
    const { _version, ...partial } = partialWrite
    const cluster = { search: partialWriteFound, documents: readAs(partial) }
    const { error, paths } = await raise(cluster, ['orders-v1', 'orders-v2'])
    expect(error).toBeInstanceOf(Unavailable)
    expect(error?.message).toContain(`returned ${partialWrite._id} without its version`)
    expect(paths.filter((path) => path.includes('/_bulk'))).toEqual([])
  })

  it('the fence of a rollback reads the live index through an alias too', async () => {
    const aliases = respond(200, {
      'orders-v1': { aliases: { 'orders-w-6-v1': {} } },
      'orders-v2': { aliases: { 'orders-w-6-v2': {} } },
    })
    const cluster = { aliases, read: reading('orders-v2'), search: partialWriteFound }
    const { received } = await raise(cluster, ['orders-v1'])
    expect(swapped(received)).toEqual(
      expect.arrayContaining([
        { add: { index: 'orders-v2', alias: 'orders-w-7-v2', is_write_index: true } },
      ]),
    )
    const reads = received.filter(({ path }) => /_(mget|search)/.test(path))
    expect(reads.map(({ path }) => path.split('/')[1])).toContain('orders-w-7-v2')
    expect(reads.every(({ path }) => path.startsWith('/orders-w-7-'))).toBe(true)
  })

  it.each([
    ['that no writer has written', {}],
    ['of a snapshot', { 'orders-v9': { aliases: { 'orders-w-5-v9': {} } } }],
  ])('a fence changes nothing while the read alias is on an index %s', async (_, restored) => {
    const aliases = respond(200, {
      'orders-v1': { aliases: { 'orders-w-6-v1': {} } },
      ...restored,
    })
    const { error, received } = await raise({ aliases, read: reading('orders-v9') })
    expect(error).toEqual(
      new Unavailable(
        'the alias orders is on orders-v9, which the last writer did not write: move it to orders-v1 with POST _aliases',
      ),
    )
    expect(received.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('a fence that waited for bulks of other epochs on any node must be raised at the next epoch', async () => {
    const { isRaised, delays, paths } = await raise({
      tasks: [
        tasks(undefined, 'orders-w-6'),
        tasks('orders-w-12', 'other'),
        tasks('orders-w-5'),
        tasks(),
      ],
    })
    expect(isRaised).toBe(false)
    expect(paths.filter((path) => path.includes('_tasks'))).toHaveLength(4)
    expect(paths.at(-1)).toContain('_tasks')
    expect(delays).toEqual(['waiting for bulks of an earlier epoch to end'])
  })

  it.each([
    ['of its own epoch', 'orders-w-7'],
    ['of a service with another prefix', 'shop-orders-w-6'],
    ['of another application', undefined],
  ])('the fence does not wait for bulks %s', async (_whose, mark) => {
    const { paths } = await raise({ tasks: [tasks(mark)] })
    expect(paths.filter((path) => path.includes('_tasks'))).toHaveLength(1)
  })
})

describe('a fence cannot be raised', () => {
  it.each<[string, Cluster]>([
    ['when a node did not apply the new aliases', { swap: respond(200, { acknowledged: false }) }],
    [
      'when the aliases changed concurrently',
      { swap: respondError(404, 'aliases_not_found_exception') },
    ],
    ['when a node lists no tasks', { tasks: [respond(200, { nodes: {}, node_failures: [{}] })] }],
    ['when a task is missing', { tasks: [respond(200, { nodes: {}, task_failures: [{}] })] }],
    ['when no node lists tasks', { tasks: [respond(200, {})] }],
    ['when the aliases are unavailable', { aliases: respondError(503, 'cluster_block_exception') }],
    ['when a shard copy cannot count', { lacking: counted(0, 1) }],
    ['when a shard has no active copy to count', { lacking: countedWithoutOneShard }],
    ['when the refresh fails', { refresh: respondError(503, 'unavailable_shards_exception') }],
  ])('the fence fails temporarily %s', async (_where, cluster) => {
    const { error } = await raise(cluster)
    expect(error).toBeInstanceOf(Unavailable)
  })

  it('a fence fails without a retry when OpenSearch rejects it permanently', async () => {
    const { error } = await raise({ swap: respondError(403, 'security_exception') })
    expect(error).toBeInstanceOf(RequestRejectedError)
  })

  it('a fence whose alias swap fails sends no further request', async () => {
    const { paths } = await raise({ swap: respond(200, { acknowledged: false }) })
    expect(paths.at(-1)).toBe('/_aliases')
  })
})
