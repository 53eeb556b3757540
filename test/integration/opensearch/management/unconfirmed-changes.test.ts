import { afterAll, beforeAll, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  type ManagementApi,
  openManagementApi,
} from '../../../support/management/management-api.ts'
import { sandboxOrder } from '../../../support/management/sandbox.ts'
import { createEndpoint, RECEIVER } from '../../../support/management/webhook-endpoints.ts'
import { startUnconfirmedWrites } from '../../../support/stores/scripted/unconfirmed-writes.ts'

let cluster: Awaited<ReturnType<typeof startUnconfirmedWrites>>
let api: ManagementApi
beforeAll(async () => {
  cluster = await startUnconfirmedWrites()
  api = await openManagementApi({ env: { OPENSEARCH_URL: cluster.url } })
})
afterAll(async () => {
  await api.close()
  await cluster.close()
})

const ACCOUNT = '/accounts/acc_1'
const SANDBOX = `${ACCOUNT}/sandbox-orders`

/** Sends a change, always the same. */
type Change = () => Promise<{ status: number }>

/** Sends a `POST` with an `Idempotency-Key`. */
const post =
  (path: string, body: object = {}): Change =>
  () =>
    api.postOnce(path, path, body)

async function deleteEndpoint(): Promise<Change> {
  const { id } = await createEndpoint(api)
  return () => api.call('DELETE', `${ACCOUNT}/webhook-endpoints/${id}`)
}

const createEndpointOnce = async () => post(`${ACCOUNT}/webhook-endpoints`, { url: RECEIVER })
const createKeyOnce = async () => post(`${ACCOUNT}/keys`)
const createOrderOnce = async () => post(SANDBOX, { scenario: 'pix_paid' })

async function moveOrderOnce(): Promise<Change> {
  const { json } = await api.post(SANDBOX, { scenario: 'pix_paid' })
  return post(`${SANDBOX}/${json.id}/${json.moves[0]}`)
}

const changes: [name: string, index: string, () => Promise<Change>, confirmed: number][] = [
  ['deletion of an endpoint', 'webhook-endpoints', deleteEndpoint, 404],
  ['creation of an endpoint', 'webhook-endpoints', createEndpointOnce, 201],
  ['creation of a key', 'api-keys', createKeyOnce, 201],
  ['creation of a sandbox order', 'sandbox-orders', createOrderOnce, 201],
  ['move of a sandbox order', 'sandbox-orders', moveOrderOnce, 200],
]

it.each(changes)(
  'a repeated %s gets 503 while one node alone may have the first one',
  async (_name, index, prepare, confirmed) => {
    const change = await prepare()
    await cluster.during(index, async () => {
      expect(await change()).toMatchObject({ status: 503 })
      expect(await change()).toMatchObject({ status: 503 })
    })
    expect(await change()).toMatchObject({ status: confirmed })
  },
)

it('a sandbox order that one node alone may have is not stored until it is confirmed', async () => {
  const { sandbox } = api.services.managementStores
  const insert = () => sandbox.insert(sandboxOrder())
  await cluster.during('sandbox-orders', async () => {
    await expect(insert()).rejects.toBeInstanceOf(Unavailable)
    await expect(insert()).rejects.toBeInstanceOf(Unavailable)
  })
  await insert()
})
