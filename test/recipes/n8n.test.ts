import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import { recipe } from '../support/cli/program.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'
import { permanentErrors } from './error-cases.ts'
import { installN8n, type N8nWorkflow, runN8n } from './n8n/n8n.ts'
import { CONTRACT_LIMITS, openRecipeService, type RecipeService } from './service.ts'

const INSTALL_MS = 300_000
const HTTP_NODE = 'Lista pedidos'

let service: RecipeService
let elsewhere: Elsewhere
let folder: string
let written: N8nWorkflow
beforeAll(async () => {
  folder = await installN8n()
  written = JSON.parse(await readFile(recipe('n8n/orders-n8n.json'), 'utf8')) as N8nWorkflow
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
  elsewhere = await startElsewhere()
}, INSTALL_MS)
afterAll(() => Promise.all([service.close(), elsewhere.close()]))
beforeEach(() => {
  service.faultServer.forget()
  elsewhere.forget()
})

/** Runs the workflow with the address of the test service, as its README describes. */
async function run(start: string, { key = service.key, settings = {} } = {}) {
  const workflow = structuredClone(written)
  const http = workflow.nodes.find(({ name }) => name === HTTP_NODE)
  if (http === undefined) throw new Error(`no node ${HTTP_NODE}`)
  http.parameters['url'] = `${service.baseUrl}/v1/orders`
  Object.assign(http, settings)
  const { items, error } = await runN8n(folder, {
    workflow,
    start,
    end: 'Um item por pedido',
    token: key,
  })
  const orders = (items ?? []) as Order[]
  return { error, orders, byId: new Map(orders.map((order) => [order.id, order])) }
}

describe("the recipe for n8n, run by n8n's own engine and nodes", () => {
  it('the n8n recipe returns every order as an item in a full load', async () => {
    const { error, orders, byId } = await run('Carga completa')
    expect(error).toBeNull()
    expect(byId).toEqual(await service.listed())
    expect(orders).toHaveLength(byId.size)
    expect(service.faultServer.requests[0]).toMatchObject({
      query: { sort: 'updated_at_asc', limit: '100' },
      authorization: `Bearer ${service.key}`,
    })
  })

  it('the scheduled n8n recipe returns the changes of a day', async () => {
    const changed = await service.change()
    const dayAgoMs = Date.now() - 86_400_000
    const { error, byId } = await run('A cada 15 minutos')
    expect(error).toBeNull()
    expect([...byId.keys()]).toEqual(expect.arrayContaining(changed))
    const recent = [...(await service.listed())].filter(
      ([, { updated_at }]) => updated_at !== null && Date.parse(updated_at) > dayAgoMs + 60_000,
    )
    expect([...byId]).toEqual(expect.arrayContaining(recent))
    expect(byId.size).toBeLessThan((await service.listed()).size / 2)
  })

  it('the n8n recipe restarts after an error in mid-listing and never returns a part', async () => {
    service.emptyBucketAt(3)
    const { error, byId } = await run('Carga completa')
    expect(error).toBeNull()
    expect(byId).toEqual(await service.listed())
    expect(service.faultServer.statuses().slice(0, 5)).toEqual([200, 200, 200, 429, 200])
    expect(service.faultServer.requests[4]?.query).not.toHaveProperty('cursor')
  })

  // Without a body, n8n would treat the response as the last page.
  it.each([
    { status: 429, headers: { 'retry-after': '300' }, message: 'too many requests' },
    { status: 503, message: 'Service unavailable' },
  ])(
    'the n8n recipe fails without a partial result when an edge responds $status without a body',
    async ({ message, ...answer }) => {
      service.faultServer.answer(3, answer)
      const { error, orders } = await run('Carga completa', { settings: { retryOnFail: false } })
      expect(error).toContain(message)
      expect(orders).toEqual([])
    },
  )

  it.each(permanentErrors)('the n8n recipe fails at $title', async ({ answer, key }) => {
    if (answer) service.faultServer.answer(0, answer)
    const { error, orders } = await run('Carga completa', {
      settings: { retryOnFail: false },
      ...(key && { key }),
    })
    expect(error).toMatch(/40[013]|key|Chave/i)
    expect(orders).toEqual([])
  })

  it('the n8n recipe does not follow a redirect and returns nothing', async () => {
    service.faultServer.answer(0, elsewhere.redirect)
    const { error, orders } = await run('Carga completa', { settings: { retryOnFail: false } })
    expect({ failed: error !== null, orders }).toEqual({ failed: true, orders: [] })
    expect(elsewhere.authorizations()).toEqual([])
  })

  it('the n8n recipe holds no key and refers to a credential by name', () => {
    expect(JSON.stringify(written)).not.toContain('key_live_')
    const { credentials } = written.nodes.find(({ name }) => name === HTTP_NODE) ?? {}
    expect(credentials).toEqual({ httpBearerAuth: { id: '', name: 'Chave da API de pedidos' } })
  })
})
