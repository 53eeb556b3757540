import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { Refused } from '../../src/stores/opensearch/client.ts'
import { ordersDefinition } from '../../src/stores/opensearch/index-definition.ts'
import { createPrepare } from '../../src/stores/opensearch/prepare.ts'
import { createNodes, names, ROOMY_MS, thrownBy } from './opensearch-nodes.ts'
import { answer, type Behaviour, type ReceivedRequest, refuse } from './opensearch-server.ts'

const ALIASES = ['orders', 'order-heads', 'writer', 'api-keys', 'accounts']

let { serve, connect, close } = createNodes()
beforeEach(() => {
  ;({ serve, connect, close } = createNodes())
})
afterEach(() => close())

/** A cluster with these aliases. */
async function start(
  there: string[],
  create: Behaviour = answer(200, { acknowledged: true }),
  addFields: Behaviour = answer(200, { acknowledged: true }),
) {
  const { url, received } = await serve((response, request) => {
    const name = request.path.slice(1)
    const isThere = there.some((alias) => name === `_alias/${alias}`)
    if (request.method === 'HEAD') response.writeHead(isThere ? 200 : 404).end()
    else if (request.method === 'GET')
      answer(200, { 'orders-v7': {}, 'orders-visits': {} })(response, request)
    else if (name.endsWith('/_mapping')) addFields(response, request)
    else if (name.startsWith('_')) answer(200, { acknowledged: true })(response, request)
    else create(response, request)
  })
  const written = () => received.filter(({ method }) => !['HEAD', 'GET'].includes(method))
  const isMade = ({ path }: ReceivedRequest) => !path.endsWith('/_mapping')
  return {
    prepare: createPrepare(connect([url]).client, names, ROOMY_MS),
    received,
    made: () =>
      new Set(
        written()
          .filter(isMade)
          .map(({ path }) => path.slice(1)),
      ),
    bodyOf: (path: string) =>
      JSON.parse(written().find((request) => request.path === path)?.body ?? 'null'),
  }
}

describe('what has to be there', () => {
  it('is made where nothing is, each index behind its alias', async () => {
    const { prepare, made, bodyOf } = await start([])
    await prepare()
    expect(made()).toEqual(
      new Set(['_index_template/orders', ...ALIASES.map((alias) => `${alias}-v1`)]),
    )
    expect(bodyOf('/orders-v1')).toEqual({ aliases: { orders: {} } })
  })

  it('is a template for every version of the orders, first of all', async () => {
    const { prepare, received, bodyOf } = await start([])
    await prepare()
    expect(received[0]?.path).toBe('/_index_template/orders')
    expect(bodyOf('/_index_template/orders')).toMatchObject({
      index_patterns: ['orders-v*'],
      template: JSON.parse(JSON.stringify(ordersDefinition)),
    })
  })

  it('stays as it is where it is there, the orders in whichever version', async () => {
    const { prepare, made } = await start(ALIASES)
    await prepare()
    expect(made()).toEqual(new Set(['_index_template/orders']))
  })

  it('is made only where it is missing', async () => {
    const { prepare, made } = await start(['order-heads', 'orders', 'api-keys'])
    await prepare()
    expect(made()).toEqual(new Set(['_index_template/orders', 'writer-v1', 'accounts-v1']))
  })

  it('is made once', async () => {
    const { prepare, received } = await start([])
    await Promise.all([prepare(), prepare()])
    const before = received.length
    await prepare()
    expect(received).toHaveLength(before)
  })

  it('gets the fields that came since, in every version of the orders', async () => {
    const { prepare, bodyOf } = await start(ALIASES)
    await prepare()
    const { properties } = JSON.parse(JSON.stringify(ordersDefinition.mappings))
    expect(bodyOf('/orders-v7/_mapping')).toEqual({ properties })
    expect(bodyOf('/orders-visits/_mapping')).toBeNull()
  })

  it('may be an index whose fields are of other types, which takes a reindex', async () => {
    const refused = refuse(400, 'illegal_argument_exception')
    const { prepare } = await start(ALIASES, undefined, refused)
    await expect(prepare()).resolves.toBeUndefined()
  })

  it('may be made by another process at the same time', async () => {
    const { prepare } = await start([], refuse(400, 'resource_already_exists_exception'))
    await expect(prepare()).resolves.toBeUndefined()
  })

  it.each([
    ['refused', refuse(400, 'invalid_index_name_exception'), Refused],
    ['not possible now', refuse(503, 'cluster_block_exception'), Unavailable],
  ])('and is %s is told, and tried again when asked', async (_what, behaviour, expected) => {
    let create: Behaviour = behaviour
    const { prepare, made } = await start([], (response, request) => create(response, request))
    expect(await thrownBy(prepare())).toBeInstanceOf(expected)
    create = answer(200, { acknowledged: true })
    await prepare()
    expect(made()).toContain('orders-v1')
  })
})
