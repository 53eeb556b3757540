import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { IndexLost } from '../../../../src/stores/index-lost.ts'
import { RequestRejectedError } from '../../../../src/stores/opensearch/client/errors.ts'
import { createEnsureIndices } from '../../../../src/stores/opensearch/indices/ensure-indices.ts'
import { ordersDefinition } from '../../../../src/stores/opensearch/indices/index-definition.ts'
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

const ORDERS = ['orders', 'order-heads', 'order-events', 'writer']
const ALL = [...ORDERS, 'api-keys', 'accounts']

const { serve, connect } = useScriptedNodes()

/** A cluster with these aliases over indices of version 7; it records created indices. */
async function start(
  aliases: readonly string[],
  create: Behaviour = respond(200, { acknowledged: true }),
  addFields: Behaviour = respond(200, { acknowledged: true }),
) {
  const there = new Map(aliases.map((alias) => [`${alias}-v7`, alias]))
  const { url, received } = await serve((response, request) => {
    const name = request.path.slice(1)
    if (name.includes('/_alias')) {
      const [, asked] = /_alias\/([\w-]+)/.exec(name) ?? []
      const found = [...there]
        .filter(([, alias]) => asked === undefined || alias === asked)
        .map(([index, alias]) => [index, { aliases: { [alias]: {} } }])
      respond(200, Object.fromEntries(found))(response, request)
    } else if (request.method === 'GET') {
      const versions = { 'orders-v7': {}, 'orders-visits': {} }
      const found = name.startsWith('orders-') ? versions : { [`${name}-v7`]: {} }
      respond(200, found)(response, request)
    } else if (name.includes('/_count?')) {
      const _shards = { total: 1, successful: 1, failed: 0 }
      respond(200, { count: 0, _shards })(response, request)
    } else if (name.endsWith('/_mapping')) addFields(response, request)
    else if (name.startsWith('_')) respond(200, { acknowledged: true })(response, request)
    else {
      there.set(name, name.replace(/-v\d+$/, ''))
      create(response, request)
    }
  })
  const written = () => received.filter(({ method }) => method !== 'GET')
  const isMade = ({ path }: ReceivedRequest) => !/_mapping$|_count\?/.test(path)
  return {
    ensureIndices: createEnsureIndices(connect([url]).client, names, GENEROUS_MS),
    received,
    written,
    made: () =>
      written()
        .filter(isMade)
        .map(({ path }) => path.slice(1)),
    bodyOf: (path: string) =>
      JSON.parse(written().find((request) => request.path === path)?.body ?? 'null'),
  }
}

describe('the indices of the orders', () => {
  it('ensureIndices creates keys and accounts, then orders, then the indices that record them', async () => {
    const { ensureIndices, made, bodyOf } = await start([])
    await ensureIndices.orders()
    expect(made()).toEqual([
      'api-keys-v1',
      'accounts-v1',
      '_index_template/orders',
      ...ORDERS.map((alias) => `${alias}-v1`),
    ])
    expect(bodyOf('/orders-v1')).toEqual({
      settings: { number_of_shards: 1 },
      aliases: { orders: {}, 'orders-filterable': {} },
    })
  })

  it('the index template matches every version of the orders index', async () => {
    const { ensureIndices, bodyOf } = await start([])
    await ensureIndices.orders()
    expect(bodyOf('/_index_template/orders')).toMatchObject({
      index_patterns: ['orders-v*'],
      template: JSON.parse(JSON.stringify(ordersDefinition)),
    })
  })

  it('ensureIndices leaves existing indices of any version unchanged', async () => {
    const { ensureIndices, made } = await start(ALL)
    await ensureIndices.orders()
    expect(made()).toEqual(['_index_template/orders'])
  })

  it('ensureIndices creates the missing indices after an interrupted start', async () => {
    const { ensureIndices, made } = await start(['orders', 'order-heads', 'order-events'])
    await ensureIndices.orders()
    expect(made()).toEqual(['_index_template/orders', 'writer-v1'])
  })

  it('ensureIndices accepts version records that another process creates and uses meanwhile', async () => {
    const there = new Map([['orders-v1', 'orders']])
    const { url } = await serve((response, request) => {
      const [, asked] = /_alias\/([\w-]+)/.exec(request.path) ?? []
      if (request.path.includes('/_count?')) {
        there.set('order-heads-v1', 'order-heads')
        respond(200, { count: 1, _shards: { total: 1, successful: 1, failed: 0 } })(
          response,
          request,
        )
      } else if (request.path.includes('/_alias')) {
        const found = [...there]
          .filter(([, alias]) => asked === undefined || alias === asked)
          .map(([index, alias]) => [index, { aliases: { [alias]: {} } }])
        respond(200, Object.fromEntries(found))(response, request)
      } else respond(200, { acknowledged: true })(response, request)
    })
    const ensureIndices = createEnsureIndices(connect([url]).client, names, GENEROUS_MS)
    await expect(ensureIndices.orders()).resolves.toBeUndefined()
  })

  it('ensureIndices waits for the lease that another process has just created', async () => {
    let attempts = 0
    const aliases = Object.entries({ 'orders-v1': 'orders', 'writer-v1': 'writer' })
    const { url } = await serve((response, request) => {
      const [, asked] = /_alias\/([\w-]+)/.exec(request.path) ?? []
      if (request.path.startsWith('/writer/_doc/')) {
        attempts += 1
        const behaviour =
          attempts === 1
            ? respondError(503, 'no_shard_available_action_exception')
            : respond(404, { found: false })
        behaviour(response, request)
      } else if (request.path.includes('/_count?')) {
        const _shards = { total: 1, successful: 1, failed: 0 }
        respond(200, { count: 0, _shards })(response, request)
      } else if (request.path.includes('/_alias')) {
        const found = aliases
          .filter(([, alias]) => asked === undefined || alias === asked)
          .map(([index, alias]) => [index, { aliases: { [alias]: {} } }])
        respond(200, Object.fromEntries(found))(response, request)
      } else respond(200, { acknowledged: true })(response, request)
    })
    await createEnsureIndices(connect([url]).client, names, GENEROUS_MS).orders()
    expect(attempts).toBe(2)
  })

  it.each([[['order-heads']], [['writer']], [['order-heads', 'writer', 'api-keys']]])(
    'ensureIndices creates nothing when %j record a lost index',
    async (there) => {
      const { ensureIndices, made } = await start(there)
      expect(await thrownBy(ensureIndices.orders())).toBeInstanceOf(IndexLost)
      expect(await thrownBy(ensureIndices.existingOrders())).toBeInstanceOf(IndexLost)
      expect(made()).toEqual([])
    },
  )

  it('ensureIndices does not recreate indices that the process has seen', async () => {
    const cluster: { isGone: boolean } = { isGone: false }
    const { url, received } = await serve((response, request) => {
      const there = cluster.isGone ? {} : { 'orders-v1': { aliases: { orders: {} } } }
      if (request.path.includes('/_alias')) respond(200, there)(response, request)
      else respond(200, { acknowledged: true })(response, request)
    })
    const ensureIndices = createEnsureIndices(connect([url]).client, names, GENEROUS_MS)
    await ensureIndices.orders()
    cluster.isGone = true
    expect(await thrownBy(ensureIndices.orders())).toBeInstanceOf(IndexLost)
    expect(received.filter(({ path }) => path === '/orders-v1')).toEqual([])
  })

  it('a check for existing indices creates none', async () => {
    const { ensureIndices, made } = await start([])
    await expect(ensureIndices.existingOrders()).rejects.toThrow('"index init", which creates it')
    expect(made()).toEqual([])
  })

  it('concurrent calls create the indices once', async () => {
    const { ensureIndices, written } = await start([])
    await Promise.all([ensureIndices.orders(), ensureIndices.orders()])
    const before = written().length
    await ensureIndices.orders()
    expect(written()).toHaveLength(before)
  })

  it('ensureIndices adds new mapping fields to every version of the orders index', async () => {
    const { ensureIndices, bodyOf } = await start(ALL)
    await ensureIndices.orders()
    const { properties } = JSON.parse(JSON.stringify(ordersDefinition.mappings))
    expect(bodyOf('/orders-v7/_mapping')).toEqual({ properties })
    expect(bodyOf('/orders-visits/_mapping')).toBeNull()
  })

  it('ensureIndices accepts fields of other types, which need a reindex', async () => {
    const rejection = respondError(400, 'illegal_argument_exception')
    const { ensureIndices } = await start(ALL, undefined, rejection)
    await expect(ensureIndices.orders()).resolves.toBeUndefined()
  })

  it('ensureIndices accepts indices that another process creates concurrently', async () => {
    const { ensureIndices } = await start(
      [],
      respondError(400, 'resource_already_exists_exception'),
    )
    await expect(ensureIndices.orders()).resolves.toBeUndefined()
    await expect(ensureIndices.keys()).resolves.toBeUndefined()
  })

  it.each([
    ['rejected', respondError(400, 'invalid_index_name_exception'), RequestRejectedError],
    ['temporarily blocked', respondError(503, 'cluster_block_exception'), Unavailable],
  ])('ensureIndices reports indices that are %s', async (_what, behaviour, expected) => {
    const { ensureIndices } = await start([], behaviour)
    expect(await thrownBy(ensureIndices.orders())).toBeInstanceOf(expected)
    expect(await thrownBy(ensureIndices.keys())).toBeInstanceOf(expected)
  })

  it('a failed ensureIndices runs again at the next call', async () => {
    let create: Behaviour = respondError(503, 'cluster_block_exception')
    const { ensureIndices, made } = await start(['orders'], (response, request) =>
      create(response, request),
    )
    expect(await thrownBy(ensureIndices.orders())).toBeInstanceOf(Unavailable)
    create = respond(200, { acknowledged: true })
    await ensureIndices.orders()
    expect(made()).toContain('writer-v1')
  })
})

describe('the indices of webhooks', () => {
  it('the webhook indices are created without the order indices, and checked once', async () => {
    const { ensureIndices, made } = await start([])
    await Promise.all([ensureIndices.webhooks(), ensureIndices.webhooks()])
    expect(made().sort()).toEqual(['webhook-deliveries-v1', 'webhook-endpoints-v1'])
  })

  it('an index of deliveries of an earlier release gets the new fields', async () => {
    const { ensureIndices, bodyOf } = await start(['webhook-deliveries', 'webhook-endpoints'])
    await ensureIndices.webhooks()
    expect(bodyOf('/webhook-deliveries-v7/_mapping')).toMatchObject({
      properties: { delivery_id: { type: 'keyword' } },
    })
  })
})

describe('the indices of the management API', () => {
  it('an index of sandbox orders of an earlier release gets the new fields', async () => {
    const { ensureIndices, bodyOf } = await start(['sandbox-orders'])
    await ensureIndices.management()
    expect(bodyOf('/sandbox-orders-v7/_mapping')).toMatchObject({
      properties: { is_erased: { type: 'boolean' } },
    })
  })
})

describe('the indices of keys and accounts', () => {
  it('the key and account indices are created without the order indices', async () => {
    const { ensureIndices, made } = await start([])
    await ensureIndices.keys()
    expect(made()).toEqual(['api-keys-v1', 'accounts-v1'])
  })

  it('an index of keys of an earlier release gets the new fields', async () => {
    const { ensureIndices, bodyOf } = await start(['api-keys', 'accounts'])
    await ensureIndices.keys()
    expect(bodyOf('/api-keys-v7/_mapping')).toMatchObject({
      properties: { is_test: { type: 'boolean' } },
    })
  })

  it('existing key and account indices cost three requests', async () => {
    const { ensureIndices, received } = await start(['api-keys', 'accounts'])
    await ensureIndices.keys()
    expect(received.filter(({ method }) => method === 'GET')).toHaveLength(3)
  })

  it('ensureIndices creates no keys beside accounts', async () => {
    const { ensureIndices, made } = await start(['accounts'])
    expect(await thrownBy(ensureIndices.keys())).toBeInstanceOf(IndexLost)
    expect(made()).toEqual([])
  })

  it('ensureIndices accepts keys that another process creates meanwhile', async () => {
    let isCreated = false
    const { url } = await serve((response, request) => {
      if (request.path.includes('/_alias')) {
        const there = ['accounts', ...(isCreated ? ['api-keys'] : [])]
        const found = there.map((alias) => [`${alias}-v1`, { aliases: { [alias]: {} } }])
        isCreated = true
        respond(200, Object.fromEntries(found))(response, request)
      } else respond(200, {})(response, request)
    })
    const ensureIndices = createEnsureIndices(connect([url]).client, names, GENEROUS_MS)
    await expect(ensureIndices.keys()).resolves.toBeUndefined()
  })

  it('existing key and account indices are checked once, and not created again', async () => {
    const { ensureIndices, received } = await start(['api-keys'])
    await Promise.all([ensureIndices.keys(), ensureIndices.keys()])
    const made = received.filter(({ method }) => method === 'PUT').map(({ path }) => path)
    expect(made).toEqual(['/accounts-v1'])
  })
})
