import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import type { Order } from '../../src/orders/order.ts'
import { recipe } from '../support/cli/program.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'
import {
  foreignKeys,
  permanentErrors,
  REJECTED_CURSOR,
  restart,
  transientErrors,
} from './error-cases.ts'
import { type Document, runAppsScript, type ScriptRun } from './google-sheets/apps-script.ts'
import type { Cell } from './google-sheets/sheet.ts'
import { CONTRACT_LIMITS, newestMs, openRecipeService, type RecipeService } from './service.ts'

let service: RecipeService
let elsewhere: Elsewhere
beforeAll(async () => {
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
  elsewhere = await startElsewhere()
})
afterAll(() => Promise.all([service.close(), elsewhere.close()]))

let document: Document
let lock: Int32Array<SharedArrayBuffer>
beforeEach(() => {
  service.faultServer.forget()
  elsewhere.forget()
  lock = new Int32Array(new SharedArrayBuffer(4))
  const properties = { ORDERS_API_URL: service.baseUrl, ORDERS_API_KEY: service.key }
  document = { properties, sheets: {}, columns: {}, triggers: [] }
})

/** After so long, the bucket of the account is full, whatever the tests before have taken. */
const FULL_BUCKET_MS = 2_500

/** Runs a function of the script on the document, and keeps the resulting document. */
async function run(call = 'sincronizar', requestMs = 50, edit?: ScriptRun['edit']) {
  const file = recipe('google-sheets/Code.gs')
  const outcome = await runAppsScript({ file, call, document, requestMs, edit, lock })
  document = outcome.document
  return outcome
}

/** The rows below the titles by id, without cleared rows. */
function rows(): Map<Cell, Cell[]> {
  const [, ...cells] = document.sheets['Pedidos'] ?? []
  const filled = cells.filter((row) => row.some((cell) => cell !== ''))
  const byId = new Map(filled.map((row) => [row[0] ?? '', row]))
  expect(byId.size).toBe(filled.length)
  return byId
}

async function listedRows(): Promise<Map<Cell, Cell[]>> {
  const orders = await service.listed()
  return new Map([...orders].map(([id, order]) => [id, rowOf(order)]))
}

/** Of a cell, without the apostrophe that marks a text. */
const MAX_TEXT_LENGTH = 49_999
const money = (cents: number | null) => (cents === null ? '' : cents / 100)
const date = (text: string | null) => (text === null ? '' : new Date(text))

const rowOf = ({ customer, payment, items, ...order }: Order): Cell[] => [
  ...[order.id, order.role, order.status, order.currency ?? ''],
  ...[money(order.amount_total), money(order.amount_in_brl)],
  ...[date(order.created_at), date(order.paid_at), date(order.updated_at)],
  ...[customer.name, customer.email, customer.document ?? ''],
  ...[payment.method, payment.status, payment.installments ?? '', money(payment.amount_refunded)],
  items
    .map(({ quantity, name }) => `${quantity} × ${name}`)
    .join('; ')
    .slice(0, MAX_TEXT_LENGTH),
]

const pageRequests = () => service.faultServer.requests.filter(({ status }) => status === 200)

// Stand-ins replace Google's services. The script is unchanged and sends real requests.
describe('the recipe for Google Sheets, on stand-ins for its services', () => {
  it('the Sheets recipe writes a row for every order in the first run and waits after a 429', async () => {
    service.emptyBucketAt(3)
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
    expect(service.faultServer.statuses()).toEqual([200, 200, 200, 429, 200, 200, 200, 200])
  })

  it('the Sheets recipe deletes the unused columns of a new sheet, which count as cells', async () => {
    await run()
    const [titles] = document.sheets['Pedidos'] ?? []
    expect(document.columns).toEqual({ Pedidos: titles?.length })
  })

  it('the Sheets recipe updates existing rows in the next run', async () => {
    await run()
    const newestOnceMs = newestMs(await service.listed())
    service.faultServer.forget()
    const changed = await service.change()
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
    const [page, ...more] = pageRequests()
    expect(more).toEqual([])
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestOnceMs - 60_000)
    expect(page?.ids).toEqual(expect.arrayContaining(changed))
    expect(page?.ids.length).toBeLessThan(changed.length + 10)
  })

  it('the Sheets recipe updates the right rows when a user sorts them during a request', async () => {
    await run()
    await service.change()
    expect(await run('sincronizar', 50, { change: 'sort', request: 1 })).toMatchObject({
      error: null,
    })
    expect(rows()).toEqual(await listedRows())
  })

  it('the Sheets recipe keeps every row when a user sorts them between two pages', async () => {
    service.faultServer.before(2, async () => {
      await service.change(pageRequests()[0]?.ids)
    })
    expect(await run('sincronizar', 50, { change: 'sort', request: 3 })).toMatchObject({
      error: null,
    })
    expect(rows()).toEqual(await listedRows())
  })

  it.each(foreignKeys)(
    'the Sheets recipe does not continue a sheet with $title, until it is restarted',
    async ({ keyOf }) => {
      await run()
      const before = structuredClone(document)
      const key = await keyOf(service)
      document.properties['ORDERS_API_KEY'] = key
      expect((await run()).error).toContain('recomecar')
      expect(document.sheets).toEqual(before.sheets)
      expect(document.properties['ESTADO']).toBe(before.properties['ESTADO'])
      expect(await run('recomecar')).toMatchObject({ error: null })
      expect(rows().size).toBe(0)
    },
  )

  it('the Sheets recipe continues with another key of the account', async () => {
    await run()
    service.faultServer.forget()
    document.properties['ORDERS_API_KEY'] = await service.createKey(DEMO_ACCOUNT)
    expect(await run()).toMatchObject({ error: null })
    expect(pageRequests()[0]?.query).toHaveProperty('updated_gte')
  })

  it.each([
    ['deletes or renames the sheet', (sheets: Document['sheets']) => delete sheets['Pedidos']],
    ['deletes its rows', (sheets: Document['sheets']) => sheets['Pedidos']?.splice(1)],
  ])('the Sheets recipe reads every order again after a user %s', async (_what, edit) => {
    await run()
    edit(document.sheets)
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
  })

  it('the Sheets recipe shortens a text that no cell can hold', async () => {
    const items = Array.from({ length: 200 }, (_, at) => {
      return { product_id: `prod_${at}`, name: 'Curso '.repeat(60), quantity: 1, unit_price: 100 }
    })
    const [id = ''] = await service.change(undefined, { items })
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
    expect(rows().get(id)?.at(-1)).toHaveLength(MAX_TEXT_LENGTH)
  })

  it('the Sheets recipe stops before the time limit of Google and resumes in the next run', async () => {
    const twoMinutesMs = 120_000
    await sleep(FULL_BUCKET_MS) // A 429 would take two minutes too.
    await run('sincronizar', twoMinutesMs)
    expect(pageRequests()).toHaveLength(2)
    expect(rows().size).toBe(200)
    while (document.properties['ESTADO']?.includes('"cursor":null') === false) {
      await run('sincronizar', twoMinutesMs)
    }
    expect(rows()).toEqual(await listedRows())
    const cursors = pageRequests().map(({ query }) => query['cursor'])
    expect(new Set(cursors).size).toBe(cursors.length)
  })

  it.each(transientErrors)('the recipe retries after $title', async ({ fault }) => {
    service.faultServer.answer(2, fault)
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
  })

  it('the recipe waits longer than Retry-After for a service that starts again', async () => {
    const rejections = service.faultServer.rejectFor(2, restart.seconds, restart.answer)
    expect(await run()).toMatchObject({ error: null })
    expect(rejections()).toBeGreaterThan(0)
    expect(rejections()).toBeLessThanOrEqual(restart.maxRejections)
    expect(rows()).toEqual(await listedRows())
  })

  it('the Sheets recipe defers a long wait to the next run', async () => {
    service.faultServer.answer(2, { status: 429, headers: { 'retry-after': '300' } })
    const { error, warnings } = await run()
    expect({ error, warnings }).toEqual({ error: null, warnings: [expect.stringContaining('300')] })
    expect(rows().size).toBe(200)
    await run()
    expect(rows()).toEqual(await listedRows())
  })

  it.each([
    { title: 'a 503', fault: { status: 503, headers: { 'retry-after': '300' } }, reason: '(503)' },
    { title: 'a connection that is reset', fault: 'reset', reason: 'ECONNRESET' },
    {
      title: 'a page of a network portal',
      fault: { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
      reason: 'SyntaxError',
    },
  ] as const)(
    'the Sheets recipe fails, and keeps its rows, when $title lasts until its deadline',
    async ({ fault, reason }) => {
      await run()
      const before = structuredClone(document.sheets)
      await service.change()
      for (const call of ['recomecar', 'sincronizar']) {
        service.faultServer.forget()
        service.faultServer.answer(0, ...Array(10).fill(fault))
        const { error } = await run(call, 120_000)
        expect(error).toContain(reason)
        expect(error).toContain('Confira ORDERS_API_URL; ao rodar de novo, continua daqui.')
        expect(document.sheets).toEqual(before)
      }
      service.faultServer.forget()
      expect(await run()).toMatchObject({ error: null })
      expect(rows()).toEqual(await listedRows())
    },
  )

  it('the Sheets recipe keeps its rows when a long wait defers a restart', async () => {
    await run()
    const before = structuredClone(document)
    service.faultServer.answer(0, { status: 429, headers: { 'retry-after': '300' } })
    expect((await run('recomecar')).error).toContain('A API pede para esperar')
    expect(document).toEqual(before)
  })

  it('the recipe restarts the listing when its cursor is rejected', async () => {
    await run('sincronizar', 120_000)
    const state = JSON.parse(document.properties['ESTADO'] ?? '')
    document.properties['ESTADO'] = JSON.stringify({ ...state, cursor: 'AQNraWQ' })
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
  })

  it('the Sheets recipe stops when the API rejects its cursor after three restarts', async () => {
    service.faultServer.breakCursors()
    expect((await run()).error).toMatch(REJECTED_CURSOR)
    expect(service.faultServer.statuses().filter((status) => status === 400)).toHaveLength(4)
    service.faultServer.forget()
    expect(await run()).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
  })

  it('the recipe keeps the later of two versions from one run', async () => {
    service.faultServer.before(2, async () => {
      await service.change(pageRequests()[0]?.ids)
    })
    expect(await run()).toMatchObject({ error: null })
    const ids = pageRequests().flatMap((page) => page.ids)
    expect(ids.length).toBeGreaterThan(new Set(ids).size)
    expect(rows()).toEqual(await listedRows())
  })

  it('a restart of the Sheets recipe removes orders that the account lost', async () => {
    await run()
    await service.erase()
    expect(await run('recomecar')).toMatchObject({ error: null })
    expect(rows()).toEqual(await listedRows())
  })

  it('the Sheets recipe reads only the ids of the rows that a page overwrites', async () => {
    await run()
    const ids = [...rows().keys()]
    service.faultServer.forget()
    await service.change(ids.slice(-20).map(String))
    const { reads } = await run()
    expect(rows()).toEqual(await listedRows())
    const known =
      pageRequests()[0]
        ?.ids.map((id) => ids.indexOf(id))
        .filter((at) => at >= 0) ?? []
    const range = Math.max(...known) - Math.min(...known) + 1
    expect(range).toBeLessThan(ids.length / 2)
    expect(reads).toEqual([ids.length, range])
  })

  it('the Sheets recipe updates the right rows when a user deletes rows during a request', async () => {
    await run()
    await service.change()
    expect(await run('sincronizar', 50, { change: 'delete', request: 1 })).toMatchObject({
      error: null,
    })
    const listed = await listedRows()
    for (const [id, cells] of rows()) expect(cells).toEqual(listed.get(id))
  })

  it.each(['sincronizar', 'recomecar'])(
    'the function %s reads while it holds the lock',
    async (call) => {
      const held: (number | undefined)[] = []
      service.faultServer.before(0, async () => {
        held.push(lock[0])
      })
      expect(await run(call)).toMatchObject({ error: null })
      expect([...held, lock[0]]).toEqual([1, 0])
    },
  )

  it.each([
    { call: 'sincronizar', error: null },
    { call: 'recomecar', error: expect.stringContaining('Outra leitura está em curso') },
  ])(
    'the function $call changes nothing while another run holds the lock',
    async ({ call, error }) => {
      await run('sincronizar', 120_000)
      service.faultServer.forget()
      const before = structuredClone(document)
      lock[0] = 1
      expect(await run(call)).toMatchObject({ error })
      expect(document).toEqual(before)
      expect(service.faultServer.requests).toEqual([])
      expect(lock[0]).toBe(1)
    },
  )

  it('the Sheets recipe releases the lock when it stops at an error', async () => {
    service.faultServer.answer(0, { status: 403 })
    expect((await run()).error).toContain('403')
    expect(lock[0]).toBe(0)
  })

  it('the recipe does not follow a redirect', async () => {
    service.faultServer.answer(0, elsewhere.redirect)
    expect((await run()).error).toContain('302')
    expect(elsewhere.authorizations()).toEqual([])
  })

  it('repeated installation creates one trigger every ten minutes', async () => {
    await run('instalar')
    await run('instalar')
    expect(document.triggers).toEqual(['sincronizar'])
  })

  it.each(permanentErrors)(
    'the recipe stops at $title and names the next step',
    async ({ answer, key, message }) => {
      if (answer) service.faultServer.answer(0, answer)
      document.properties['ORDERS_API_KEY'] = key ?? service.key
      expect((await run()).error).toContain(message)
    },
  )
})
