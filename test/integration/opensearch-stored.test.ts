import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { createStored, headSource } from '../../src/stores/opensearch/writer/stored.ts'
import { createNodes, names, ROOMY_MS, thrownBy } from './opensearch-nodes.ts'
import { answer, type Behaviour } from './opensearch-server.ts'

let { serve, connect, close } = createNodes()
beforeEach(() => {
  ;({ serve, connect, close } = createNodes())
})
afterEach(() => close())

async function start(behaviour: Behaviour) {
  const { url, received } = await serve(behaviour)
  return { stored: createStored(connect([url]).client, names, ROOMY_MS), received }
}

const docs = (...of: object[]) => answer(200, { docs: of })
const missing = (_id: string) => ({ _id, found: false })

const head = {
  orderId: 'ord_1',
  version: 3,
  ownerAccountId: 'acc_1',
  accountIds: ['acc_1', 'acc_2'],
  createdKey: null,
  filled: true,
  deleted: false,
}
const headDocument = { _id: 'ord_1', found: true, _source: headSource(head) }

const order = { id: 'ord_1', tracking: { src: 'bio' } }
const source = { account_id: 'acc_1', id: 'ord_1', shape: 1, updated_key: 2000, order }
const viewDocument = { _id: 'acc_1:ord_1', found: true, _source: source }
const key = { accountId: 'acc_1', orderId: 'ord_1' }

describe('the heads that are stored', () => {
  it('are those that exist, by the ids of their orders', async () => {
    const { stored, received } = await start(docs(headDocument, missing('ord_2')))
    expect(await stored.heads(['ord_1', 'ord_2'])).toEqual(new Map([['ord_1', head]]))
    expect(received[0]?.path).toBe('/order-heads/_mget')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      docs: [{ _id: 'ord_1' }, { _id: 'ord_2' }],
    })
  })

  it('of no orders are not asked for', async () => {
    const { stored, received } = await start(docs())
    expect(await stored.heads([])).toEqual(new Map())
    expect(received).toEqual([])
  })
})

describe('the documents that are stored', () => {
  it('are those that exist, each looked for on the shard of its account', async () => {
    const { stored, received } = await start(docs(missing('acc_2:ord_1'), viewDocument))
    const [view, ...others] = await stored.views([{ ...key, accountId: 'acc_2' }, key])
    expect(others).toEqual([])
    expect(view).toMatchObject({ ...key, updatedKey: 2000, shape: 1 })
    expect(JSON.parse(Buffer.from(view?.json ?? []).toString())).toEqual(order)
    expect(received[0]?.path).toBe('/orders/_mget')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      docs: [
        { _id: 'acc_2:ord_1', routing: 'acc_2' },
        { _id: 'acc_1:ord_1', routing: 'acc_1' },
      ],
    })
  })

  it('of no keys are not asked for', async () => {
    const { stored, received } = await start(docs())
    expect(await stored.views([])).toEqual([])
    expect(received).toEqual([])
  })
})

describe('what is stored is unknown', () => {
  const error = { type: 'no_shard_available_action_exception', reason: 'x' }

  it.each<[string, Behaviour]>([
    ['where a document is told as an error', docs(headDocument, { _id: 'ord_2', error })],
    ['where less is told than was asked', docs(headDocument)],
    ['where more is told than was asked', docs(headDocument, headDocument, headDocument)],
    ['where a document is told without its id', docs(headDocument, { found: false })],
    ['where nothing is told', answer(200, {})],
  ])('%s', async (_where, behaviour) => {
    const { stored } = await start(behaviour)
    expect(await thrownBy(stored.heads(['ord_1', 'ord_2']))).toBeInstanceOf(Unavailable)
  })

  it('where a document is no order', async () => {
    const { stored } = await start(docs({ ...viewDocument, _source: { id: 'ord_1' } }))
    expect(await thrownBy(stored.views([key]))).toBeInstanceOf(Unavailable)
  })
})
