import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sandboxOf } from '../../../src/auth/account-ids.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { unbounded } from '../../../src/lib/request-scope.ts'
import { CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { createAuditLog } from '../../../src/management/audit/audit-log.ts'
import { createOrderSink } from '../../../src/management/ingestion/create-order-sink.ts'
import type { OrderSink } from '../../../src/management/ingestion/order-sink.ts'
import {
  createSandboxManagement,
  type SandboxManagement,
  type WriteSourceOrders,
} from '../../../src/management/sandbox/sandbox-management.ts'
import type { SandboxMove } from '../../../src/management/sandbox/sandbox-moves.ts'
import type { SandboxOrder } from '../../../src/management/sandbox/sandbox-store.ts'
import { createSinkWrite } from '../../../src/management/sandbox/write-source-orders.ts'
import { sandboxOrder as order } from '../../support/management/sandbox.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { endpoint } from '../../support/webhooks/endpoint.ts'
import { type StoresUnderTest, useStores } from '../stores-under-test.ts'

const ACCOUNT = 'acc_1'
const SANDBOX = sandboxOf(ACCOUNT)

describe.each(useStores())('the sandbox on %s', (_name, open) => {
  let opened: StoresUnderTest
  let sandbox: SandboxManagement
  let sink: OrderSink
  let write: WriteSourceOrders
  beforeEach(async () => {
    opened = await open()
    sink = createOrderSink(opened)
    write = createSinkWrite(sink)
    sandbox = manage(write)
  })
  afterEach(async () => {
    await sink.close()
    await opened.close()
  })

  function manage(
    writeSources: WriteSourceOrders,
    maxOrders?: number,
    clock = Date.now,
  ): SandboxManagement {
    return createSandboxManagement({
      ...(maxOrders !== undefined && { maxOrders }),
      sandbox: opened.managementStores.sandbox,
      write: writeSources,
      audit: createAuditLog(opened.managementStores.audit, Date.now),
      clock,
    })
  }

  const create = (scenario: string) => sandbox.create(CLI_ACTOR, { accountId: ACCOUNT, scenario })
  const move = ({ orderId }: SandboxOrder, name: SandboxMove, by = sandbox) =>
    by.move(CLI_ACTOR, { accountId: ACCOUNT, orderId }, name)

  /** The order as an account reads it. */
  async function read(accountId: string, { orderId }: SandboxOrder) {
    const bytes = await opened.orders.get(accountId, orderId, unbounded)
    return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString())
  }

  /** The types of the events of each account that were announced. */
  async function announced(): Promise<Record<string, string[]>> {
    await opened.refresh()
    const page = await opened.webhooks.events.next(100)
    const types: Record<string, string[]> = {}
    for (const { type, accountIds } of page?.records.flatMap(({ events }) => events) ?? []) {
      for (const id of accountIds) types[id] = [...(types[id] ?? []), type]
    }
    return types
  }

  describe('the store', () => {
    const store = () => opened.managementStores.sandbox

    it('returns an order as it was stored, to its account alone', async () => {
      await store().insert(order())
      expect(await store().find(ACCOUNT, 'ord_test_1')).toEqual(order())
      expect(await store().find('acc_2', 'ord_test_1')).toBeNull()
      expect(await store().list({ accountId: 'acc_2', limit: 9, after: null })).toEqual([])
    })

    it('replaces the version before, and no other', async () => {
      await store().insert(order())
      const version = (number: number) => order({ source: { ...order().source, version: number } })
      expect(await store().replace(version(3))).toBe(false)
      expect(await store().replace(version(2))).toBe(true)
      expect(await store().replace(version(2))).toBe(false)
      expect(await store().find(ACCOUNT, 'ord_test_1')).toEqual(version(2))
      expect(await store().replace({ ...version(3), orderId: 'ord_test_2' })).toBe(false)
    })

    it('of concurrent replacements of a version, one succeeds', async () => {
      await store().insert(order())
      const next = order({ source: { ...order().source, version: 2 } })
      const replaced = await Promise.all([1, 2, 3, 4].map(() => store().replace(next)))
      expect(replaced.filter(Boolean)).toHaveLength(1)
    })

    it('counts the orders of an account that are not erased', async () => {
      const erased = {
        id: 'ord_test_2',
        version: 2,
        owner_account_id: SANDBOX,
        deleted: true,
      } as const
      await store().insert(order())
      await store().insert(order({ orderId: 'ord_test_2' }))
      await store().insert(order({ accountId: 'acc_2', orderId: 'ord_test_3' }))
      expect(await store().count(ACCOUNT)).toBe(2)
      await store().replace(order({ orderId: 'ord_test_2', source: erased }))
      expect(await store().count(ACCOUNT)).toBe(1)
      expect(await store().count('acc_9')).toBe(0)
    })

    it('lists the newest first, page by page', async () => {
      const instants: [string, number][] = [
        ['ord_test_1', 1_000],
        ['ord_test_2', 2_000],
        ['ord_test_3', 2_000],
      ]
      for (const [orderId, madeAt] of instants) await store().insert(order({ orderId, madeAt }))
      const page = async (after: SandboxOrder | null) =>
        await store().list({ accountId: ACCOUNT, limit: 2, after })
      const first = await page(null)
      expect(first.map(({ orderId }) => orderId)).toEqual(['ord_test_3', 'ord_test_2'])
      const second = await page(first.at(-1) ?? null)
      expect(second.map(({ orderId }) => orderId)).toEqual(['ord_test_1'])
    })
  })

  it('an order is visible in the sandbox alone', async () => {
    const order = await create('card_paid')
    expect(await read(SANDBOX, order)).toMatchObject({ id: order.orderId, status: 'PAID' })
    expect(await read(ACCOUNT, order)).toBeNull()
  })

  it('a whole life is announced to the endpoints of the sandbox alone', async () => {
    const { endpoints } = opened.webhooks
    await endpoints.insert(endpoint({ id: `we_${'1'.repeat(32)}`, accountId: ACCOUNT }))
    await endpoints.insert(endpoint({ id: `we_${'2'.repeat(32)}`, accountId: SANDBOX }))
    const order = await create('pix_awaiting')
    for (const name of ['pay', 'dispute', 'win', 'refund', 'erase'] as const) {
      await move(order, name)
    }
    expect(await announced()).toEqual({
      [SANDBOX]: [
        'order.created',
        'order.awaiting_payment',
        'order.paid',
        'order.disputed',
        'order.dispute_won',
        'order.refunded',
        'order.removed',
      ],
    })
    expect(await read(SANDBOX, order)).toBeNull()
  })

  it('an order of the account is announced to its live endpoints alone', async () => {
    const { endpoints } = opened.webhooks
    await endpoints.insert(endpoint({ id: `we_${'1'.repeat(32)}`, accountId: ACCOUNT }))
    await endpoints.insert(endpoint({ id: `we_${'2'.repeat(32)}`, accountId: SANDBOX }))
    await write([sourceOrder({ owner_account_id: ACCOUNT })])
    expect(Object.keys(await announced())).toEqual([ACCOUNT])
  })

  it('an erased order keeps no data of its buyer', async () => {
    const order = await create('boleto_paid')
    const { customer } = await read(SANDBOX, order)
    const erased = await move(order, 'erase')
    expect(JSON.stringify(erased)).not.toContain(customer.email)
    expect(await opened.managementStores.sandbox.find(ACCOUNT, order.orderId)).toEqual(erased)
    await expect(move(order, 'pay')).rejects.toMatchObject({
      code: 'impossible_move',
      possible: [],
    })
  })

  it('a live order with the id of one of the sandbox is rejected', async () => {
    const { orderId: id } = await create('card_paid')
    const live = sourceOrder({ id, version: 9, owner_account_id: ACCOUNT })
    await expect(write([live])).rejects.toThrow('/owner_account_id')
  })

  it('of two equal moves at once, one is refused with the moves that are possible', async () => {
    const order = await create('pix_awaiting')
    const results = await Promise.allSettled([move(order, 'pay'), move(order, 'pay')])
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toMatchObject([{ possible: ['refund', 'dispute', 'erase'] }])
    expect(await read(SANDBOX, order)).toMatchObject({ status: 'PAID' })
  })

  it.each<[string, SandboxMove]>([
    ['its repetition', 'pay'],
    ['the next move', 'refund'],
  ])('a move whose write failed is completed by %s', async (_what, next) => {
    await opened.webhooks.endpoints.insert(endpoint({ accountId: SANDBOX }))
    const order = await create('pix_awaiting')
    const failing = manage(() => Promise.reject(new Unavailable('no response')))
    await expect(move(order, 'pay', failing)).rejects.toThrow('no response')
    expect(await read(SANDBOX, order)).toMatchObject({ status: 'AWAITING_PAYMENT' })
    await move(order, next).catch(() => {})
    expect((await announced())[SANDBOX]).toContain('order.paid')
  })

  describe('a repetition with the same Idempotency-Key', () => {
    const failing = (maxOrders?: number) =>
      manage(() => Promise.reject(new Unavailable('no response')), maxOrders)
    const given = { accountId: ACCOUNT, scenario: 'renewal_paid' }
    const all = () =>
      opened.managementStores.sandbox.list({ accountId: ACCOUNT, limit: 9, after: null })
    const renew = ({ orderId }: SandboxOrder, request: string | undefined, by = sandbox) =>
      by.move(CLI_ACTOR, { accountId: ACCOUNT, orderId }, 'renew', request)
    const paymentsOf = ({ source }: SandboxOrder) =>
      source.deleted === true ? 0 : source.payments.length

    it('completes a creation whose write failed, also at the limit', async () => {
      await expect(failing(1).create(CLI_ACTOR, given, 'request_1')).rejects.toThrow('no response')
      const [stored] = await all()
      const made = await manage(write, 1).create(CLI_ACTOR, given, 'request_1')
      expect(made).toEqual(stored)
      expect(await all()).toEqual([made])
      expect(await read(SANDBOX, made)).toMatchObject({ id: made.orderId })
      expect(await sandbox.create(CLI_ACTOR, given, 'request_2')).not.toEqual(made)
    })

    it('completes a move whose write failed, and does not move on', async () => {
      await opened.webhooks.endpoints.insert(endpoint({ accountId: SANDBOX }))
      const order = await create('renewal_paid')
      await expect(renew(order, 'request_1', failing())).rejects.toThrow('no response')
      const renewed = await renew(order, 'request_1')
      expect(paymentsOf(renewed)).toBe(paymentsOf(order) + 1)
      expect(await all()).toEqual([renewed])
      expect((await announced())[SANDBOX]).toContain('order.payment_received')
    })

    it('completes a move that is not possible again, also after one without a key', async () => {
      const order = await create('pix_awaiting')
      const pay = (by: SandboxManagement) =>
        by.move(CLI_ACTOR, { accountId: ACCOUNT, orderId: order.orderId }, 'pay', 'request_1')
      await expect(pay(failing())).rejects.toThrow('no response')
      const paid = await pay(sandbox)
      expect(await read(SANDBOX, order)).toMatchObject({ status: 'PAID' })
      const refunded = await move(paid, 'refund')
      expect(await pay(sandbox)).toEqual(refunded)
    })

    it('is another request with another key, and after 24 hours', async () => {
      const order = await sandbox.create(CLI_ACTOR, given, 'request_1')
      const renewed = await renew(order, 'request_2')
      expect(paymentsOf(await renew(order, 'request_3'))).toBe(paymentsOf(renewed) + 1)
      const tomorrow = manage(write, undefined, () => Date.now() + 24 * 3_600_000 + 60_000)
      expect(paymentsOf(await renew(order, 'request_3', tomorrow))).toBe(paymentsOf(renewed) + 2)
      const other = await tomorrow.create(CLI_ACTOR, given, 'request_1')
      expect(other.orderId).not.toBe(order.orderId)
      expect((await tomorrow.create(CLI_ACTOR, given, 'request_1')).orderId).toBe(other.orderId)
    })
  })

  it('every change is in the audit log', async () => {
    const order = await create('card_paid')
    await move(order, 'refund')
    const entries = await opened.managementStores.audit.list({
      accountId: ACCOUNT,
      limit: 9,
      after: null,
    })
    const actions = new Set(entries.map(({ action, outcome }) => `${action} ${outcome}`))
    expect(actions).toEqual(new Set(['sandbox_order.create done', 'sandbox_order.change done']))
    expect(entries.every(({ target }) => target === order.orderId)).toBe(true)
  })

  it('an unknown scenario is refused with the known ones', async () => {
    await expect(create('nothing')).rejects.toThrow('choose one of pix_awaiting')
  })

  it('at the limit, an account creates no order until it erases one, and others do', async () => {
    const limited = manage(write, 2)
    const createIn = (accountId: string) =>
      limited.create(CLI_ACTOR, { accountId, scenario: 'card_paid' })
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => createIn(ACCOUNT)))
    const made = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(2)
    await expect(createIn(ACCOUNT)).rejects.toMatchObject({
      code: 'sandbox_full',
      message: expect.stringContaining('has 2 orders, the most that it may have: erase one'),
    })
    await createIn('acc_2')
    for (const one of made.slice(1)) await move(one, 'erase')
    await createIn(ACCOUNT)
    const entries = await opened.managementStores.audit.list({
      accountId: ACCOUNT,
      limit: 9,
      after: null,
    })
    expect(entries.map(({ outcome }) => outcome)).toEqual(Array(4).fill('done'))
  })

  it('an order of another account is not found', async () => {
    const { orderId } = await create('card_paid')
    const moved = sandbox.move(CLI_ACTOR, { accountId: 'acc_2', orderId }, 'refund')
    await expect(moved).rejects.toMatchObject({ code: 'sandbox_order_missing' })
  })
})
