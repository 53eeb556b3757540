import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'
import { dropDocument } from '../support/stores/damage-document.ts'

let backend: Backend
beforeAll(() => {
  backend = createBackend()
})
afterAll(() => backend.remove())

const run = (args: string[], orders: object[] = []) =>
  runCommand(
    ['index', ...args],
    backend.env,
    orders.map((order) => JSON.stringify(order)).join('\n'),
  )

const orders = [
  sourceOrder({ coproducer_account_ids: ['acc_2'] }),
  sourceOrder({ id: 'ord_2' }),
  sourceOrder({ id: 'ord_3', changed_at: null }),
]

// The tests share one index because a check writes nothing. Their order is that of its states. A
// check waits before it reports an inconsistency, so two that report some run at once.
describe('index check of an empty index', () => {
  beforeAll(() => run(['init']))

  it('reports the first inconsistencies and the number of the others', async () => {
    const { code, stdout } = await run(
      ['check', '-', '--examples', '1'],
      [...orders, sourceOrder({ id: 'ord_4' })],
    )
    expect(code).toBe(1)
    const [one, more, ...summary] = stdout.trimEnd().split('\n')
    expect(one).toMatch(/^missing acc_1 ord_1 /)
    expect(more).toBe('and 4 more')
    expect(summary).toHaveLength(1)
  })
})

describe('index check of an index that has three orders', () => {
  beforeAll(() => run(['load', '-'], orders))

  it('exits 0 and prints a summary when the index matches the file', async () => {
    const file = join(backend.folder, 'orders.ndjson')
    writeFileSync(file, orders.map((order) => `${JSON.stringify(order)}\n`).join(''))
    const { code, stdout, stderr } = await run(['check', file])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^read: 3, orders: 3, documents: 4, missing: 0, extra: 0, different: 0, without key field: 0, damaged: 0, refused lines: 0, seconds: [\d.]+\n$/,
    )
  })

  it.concurrent('exits 1 and prints one line per inconsistency, without values of the order', async () => {
    const [first, , third] = orders
    const others = [first, { ...third, status: 'REFUNDED' }, sourceOrder({ id: 'ord_4' })]
    const { code, stdout, stderr } = await run(['check', '-'], others.map(Object))
    expect(code).toBe(1)
    expect(stderr).toContain(
      'An extra order that FILE lacks needs its newest version or its deletion',
    )
    expect(stdout.split('\n').slice(0, -2)).toEqual([
      'different acc_1 ord_3 the document does not show version 1: /status',
      'missing acc_1 ord_4 version 1 has no document; the index has no record of the order',
      'extra acc_1 ord_2 the source has no such order, or not for this account',
    ])
    expect(stdout).toContain(
      'read: 3, orders: 3, documents: 4, missing: 1, extra: 1, different: 1,',
    )
  })

  it.concurrent('prints its report as JSON', async () => {
    const more = [...orders, sourceOrder({ id: 'ord_4' })]
    const { code, stdout } = await run(['check', '-', '--json'], more)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      read: 4,
      orders: 4,
      documents: 4,
      missing: 1,
      extra: 0,
      different: 0,
      without_key_field: 0,
      damaged: 0,
      refused_lines: 0,
      seconds: expect.any(Number),
      examples: [
        {
          kind: 'missing',
          account_id: 'acc_1',
          order_id: 'ord_4',
          what: expect.stringContaining('version 1'),
          fields: [],
        },
      ],
    })
  })

  it('reports rejected lines, which are not inconsistencies of the index', async () => {
    const { code, stdout, stderr } = await run(
      ['check', '-', '--json'],
      [...orders, { id: 'ord_9' }],
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ read: 4, refused_lines: 1 })
    expect(stderr).toBe('line 4: /version: is missing\n')
  })

  it('index check without a file compares the documents with the version records', async () => {
    const { code, stdout } = await run(['check', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      read: 0,
      known_orders: 3,
      documents: 4,
      missing: 0,
      extra: 0,
    })
  })

  it('explains in its help what it compares without a file', async () => {
    const { stdout } = await run(['check', '--help'])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('without a file, with its own version records')
  })

  it('exits 1 and names a file that it cannot read', async () => {
    const { code, stderr } = await run(['check', 'nowhere.ndjson'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('cannot read orders from nowhere.ndjson'),
    })
  })

  it('exits 2 for an invalid number of examples', async () => {
    const { code, stderr } = await run(['check', '-', '--examples', 'all'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--examples') })
  })

  it('index check without a file exits 1 and reports a lost document', async () => {
    await dropDocument(backend, 'acc_2', 'ord_1')
    const { code, stdout } = await run(['check'])
    expect(code).toBe(1)
    const [fault, summary] = stdout.trimEnd().split('\n')
    expect(fault).toBe(
      'missing acc_2 ord_1 version 1 has no document; the index itself names the account',
    )
    expect(summary).toMatch(
      /^read: 0, orders: 0, known orders: 3, documents: 3, missing: 1, extra: 0,/,
    )
  })
})
