import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import { type RunningService, serveInProcess } from '../support/cli/command.ts'
import type { ListBody } from '../support/http/test-app.ts'
import {
  getPrograms,
  listPrograms,
  oneLineOf,
  openSampleRunner,
  runners,
  type Sample,
  samplesOf,
} from './sample-programs.ts'

// A small limit, so that each program has to wait more than once. A `Retry-After` is 1 second.
const [CAPACITY, REFILL_PER_SECOND] = [8, 4]
const FEW = {
  RATE_LIMIT_CAPACITY: `${CAPACITY}`,
  RATE_LIMIT_REFILL_PER_SECOND: `${REFILL_PER_SECOND}`,
}

const samples = openSampleRunner()
let service: RunningService
let key: string
let paid: Order[]
beforeAll(async () => {
  service = await serveInProcess(['--demo'], { DATA_DIR: samples.folder, ...FEW })
  key = /demo key\s+(\S+)/.exec(service.output().stdout)?.[1] ?? ''
  paid = await listPaid()
})
afterAll(async () => {
  await service.stop()
  samples.close()
})

async function listPaid(): Promise<Order[]> {
  const orders: Order[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url = `${service.baseUrl}/v1/orders?status=PAID&limit=100${cursor && `&cursor=${cursor}`}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after'))
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      continue
    }
    const page = (await response.json()) as ListBody
    orders.push(...page.data)
    cursor = page.next_cursor
  }
  return orders
}

const run = (sample: Sample, args: string[] = [], bearer = key, baseUrl = service.baseUrl) =>
  samples.run(sample, args, { baseUrl, key: bearer })

/** Texts that some JSON parsers reject. */
const awkwardOrder = (): Order => {
  const [order] = paid
  if (order === undefined) throw new Error('no paid order')
  return {
    ...order,
    customer: { ...order.customer, name: 'Ana \ufffe 🎸' },
    tracking: { '\0k': 'v', src: 'a \\ud83d', '\uffff': '\ufffe' },
  }
}

/** Runs a program with a server that returns the awkward order, alone and in a page. */
function runWithAwkwardOrder(sample: Sample) {
  const order = awkwardOrder()
  const page = { object: 'list', data: [order], has_more: false, next_cursor: null }
  const isList = (url: URL) => url.searchParams.has('limit')
  return runWithServer(sample, order.id, (url) => (isList(url) ? page : order))
}

/** Two pages with a field at their end, and with fields of the same names in their orders. */
function pageWithNewFields(url: URL) {
  const tracking = { has_more: 'false', next_cursor: 'another', src: '"has_more":false' }
  const isLast = url.searchParams.get('cursor') === NEXT_CURSOR
  const order = { ...awkwardOrder(), id: isLast ? 'ord_last' : 'ord_first', tracking }
  return {
    object: 'list',
    data: [{ ...order, refunds: { data: [], has_more: isLast, next_cursor: isLast ? 'x' : null } }],
    has_more: !isLast,
    next_cursor: isLast ? null : NEXT_CURSOR,
    generated_at: '2026-03-01T12:00:00.000Z',
  }
}
const NEXT_CURSOR = 'AQ-next_cursor'

/** Runs a program with a server that returns the JSON of `respond`. */
async function runWithServer(sample: Sample, id: string, respond: (url: URL) => object) {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(JSON.stringify(respond(new URL(url, 'http://127.0.0.1'))))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    return await run(sample, [id], key, `http://127.0.0.1:${port}`)
  } finally {
    server.close()
  }
}

/** The order ids in the output of a program: pages of JSON, or one line per order. */
function idsIn(output: string): string[] {
  const lines = output.trim().split('\n')
  return lines.flatMap((line) =>
    line.startsWith('{')
      ? (JSON.parse(line) as ListBody).data.map(({ id }) => id)
      : line.slice(0, line.indexOf(' ')),
  )
}

it('the listing needs more requests than the limit allows with one wait', () => {
  expect(paid.length).toBeGreaterThan((CAPACITY + REFILL_PER_SECOND) * 100)
})

it.each(['/v1/orders', '/v1/orders/{id}'])('every sample of %s runs here', (path) => {
  const labels = samplesOf(path).map(({ label }) => label)
  expect(new Set(labels)).toEqual(new Set(Object.keys(runners)))
})

describe('the samples in one line', () => {
  const list = oneLineOf('/v1/orders')
  const get = oneLineOf('/v1/orders/{id}')

  it('are one line', () => {
    for (const { source } of [list, get]) expect(source.trim()).not.toContain('\n')
  })

  it('print the first page, and one order', async () => {
    let page = ''
    // The tests before may have emptied the account's bucket.
    await expect
      .poll(async () => {
        page = (await run(list)).stdout
        return page
      })
      .toContain('"object":"list"')
    expect(idsIn(page)).toEqual(paid.slice(0, 100).map(({ id }) => id))
    const id = paid[0]?.id ?? ''
    const source = get.source.replace(/ord_\w+/, id)
    await expect.poll(async () => (await run({ ...get, source })).stdout).toContain(`"id":"${id}"`)
  })

  it.each([list, get])(
    'fail with the message of the service for an invalid key',
    async (sample) => {
      const { code, output } = await run(sample, [], 'key_live_no_good')
      expect(code).toBeGreaterThan(0)
      expect(output).toContain('invalid_api_key')
    },
  )
})

describe.each(listPrograms)('the program in $label that lists', (sample) => {
  it('the sample lists every paid order in order, over all pages and limits', async () => {
    const { code, stdout } = await run(sample)
    expect([code, idsIn(stdout)]).toEqual([0, paid.map(({ id }) => id)])
  })

  it('the sample lists an order with noncharacters', async () => {
    const { code, stdout, output } = await runWithAwkwardOrder(sample)
    expect([code, idsIn(stdout)], output).toEqual([0, [awkwardOrder().id]])
  })

  it('the sample lists every page, also once pages and orders have new fields', async () => {
    const { code, stdout, output } = await runWithServer(sample, '', pageWithNewFields)
    expect([code, idsIn(stdout)], output).toEqual([0, ['ord_first', 'ord_last']])
  })

  it('the sample fails with the message of the service for an invalid key', async () => {
    const { code, output } = await run(sample, [], 'key_live_no_good')
    expect(code).toBeGreaterThan(0)
    expect(output).toContain('invalid_api_key')
  })
})

/** Their languages read no JSON, so they search a page as text. */
const textPrograms = listPrograms.filter(({ label }) => ['bash com curl', 'Java'].includes(label))

it.each(textPrograms)(
  'the program in $label fails at a page without has_more and next_cursor',
  async (sample) => {
    const page = { object: 'list', data: [{ ...awkwardOrder(), tracking: null }] }
    const { code, output } = await runWithServer(sample, '', () => page)
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringMatching(/Falta \w+ na resposta/),
    })
  },
)

describe.each(getPrograms)('the program in $label that gets one', (sample) => {
  it('the sample prints the requested order', async () => {
    const order = paid.at(-1)
    const { code, stdout } = await run(sample, [order?.id ?? ''])
    expect([code, stdout]).toEqual([0, expect.stringContaining(order?.customer.email ?? '?')])
    expect(stdout).toContain(order?.id)
  })

  it('the sample prints an order with noncharacters', async () => {
    const { id } = awkwardOrder()
    const { code, output } = await runWithAwkwardOrder(sample)
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(id) })
  })

  it('the sample fails with the message of the service for an unknown order', async () => {
    const { code, output } = await run(sample, ['ord_missing'])
    expect(code).toBeGreaterThan(0)
    expect(output).toContain('resource_missing')
  })
})
