import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../../src/lib/durations.ts'
import { accountEvents } from '../../../../src/webhooks/events/event-record.ts'
import { INVISIBLE, NOW, startWriter, type Version } from '../../../support/orders/order-writer.ts'
import { sourcePayment } from '../../../support/orders/source-order.ts'
import { putVersionRecord } from '../../../support/stores/bulk.ts'

let { index, setClock, live, history, crashAfter, repair, reproject, recover } = startWriter()

beforeEach(() => {
  ;({ index, setClock, live, history, crashAfter, repair, reproject, recover } = startWriter())
  index.subscribed.add('acc_1')
})

/** `sequence type account` of every event, in the sequence of their records. */
const announced = () =>
  index.events
    .flatMap(accountEvents)
    .map(({ sequence, type, accountId }) => `${sequence} ${type} ${accountId}`)

/** The changes of the events of an account. */
const changes = (accountId = 'acc_1') =>
  index.events
    .flatMap(accountEvents)
    .filter((event) => event.accountId === accountId)
    .map(({ change }) => change)

const AWAITING = {
  status: 'AWAITING_PAYMENT',
  payments: [sourcePayment({ status: 'PENDING' })],
} satisfies Version
const PAID: Version = {}
const REFUNDED: Version = {
  status: 'REFUNDED',
  payments: [sourcePayment({ status: 'REFUNDED', amount_refunded: 9900 })],
}
const RENEWED: Version = {
  payments: [sourcePayment(), sourcePayment({ id: 'pay_2', created_at: '2026-03-31T12:00:00Z' })],
}
const WITH_COPRODUCER: Version = { coproducer_account_ids: ['acc_2'] }

describe('a live version', () => {
  it('announces what it changes, with consecutive sequences', async () => {
    await live(1, AWAITING)
    await live(2, PAID)
    await live(3, REFUNDED)
    expect(announced()).toEqual([
      '1 order.created acc_1',
      '2 order.awaiting_payment acc_1',
      '3 order.paid acc_1',
      '4 order.refunded acc_1',
    ])
    expect(index.record('ord_1')?.announced?.sequence).toBe(4)
  })

  it('starts its change where the last one ended', async () => {
    await live(1, AWAITING)
    await live(2, PAID)
    expect(changes().at(-1)).toEqual({
      status: ['AWAITING_PAYMENT', 'PAID'],
      payment_status: ['PENDING', 'PAID'],
    })
  })

  it('records its events before its version record', async () => {
    await live(1, AWAITING)
    await crashAfter(2, 2, PAID) // One view, one event record.
    expect([index.events.length, index.record('ord_1')?.version]).toEqual([2, 1])
  })

  it('dates its events with the clock of the writer', async () => {
    await live(1)
    expect(index.events[0]?.recordedAt).toBe(NOW)
  })

  it('announces nothing to an account without an endpoint', async () => {
    index.subscribed.clear()
    await live(1)
    expect([announced(), index.record('ord_1')?.announced]).toEqual([
      [],
      { sequence: 0, lastPaymentId: 'pay_1' },
    ])
  })

  it('announces an update of a field that no other event announces', async () => {
    await live(1)
    await live(2, { customer: { name: 'Rita de Cássia Lima', email: 'rita@exemplo.com.br' } })
    expect(announced().at(-1)).toBe('3 order.updated acc_1')
    expect(changes().at(-1)).toEqual({})
  })

  it('announces no update for another sequence of tracking keys', async () => {
    await live(1, { tracking: { src: 'bio', a: '1' } })
    await live(2, { tracking: { a: '1', src: 'bio' } })
    expect(announced()).toHaveLength(2)
  })

  it('announces a renewal that changes no field of the view', async () => {
    await live(1)
    await live(2, RENEWED)
    expect(announced().at(-1)).toBe('3 order.payment_received acc_1')
    expect(changes().at(-1)).toEqual({ last_payment_id: ['pay_1', 'pay_2'] })
  })

  it('a payment that no event announces is part of the next change', async () => {
    const pending = { id: 'pay_2', created_at: '2026-03-31T12:00:00Z', status: 'PENDING' } as const
    await live(1, AWAITING)
    await live(2, { ...AWAITING, payments: [...AWAITING.payments, sourcePayment(pending)] })
    await live(3, RENEWED)
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1'])
    expect(changes().at(-1)).toMatchObject({ last_payment_id: ['pay_1', 'pay_2'] })
  })

  it('announces an update to those accounts alone whose view changed', async () => {
    index.subscribed.add('acc_2')
    await live(1, { ...WITH_COPRODUCER, tracking: { src: 'a' } })
    await live(2, { ...WITH_COPRODUCER, tracking: { src: 'b' } })
    expect(announced().slice(-1)).toEqual(['3 order.updated acc_1'])
  })
})

describe('participation', () => {
  it('a co-producer who joins begins with order.created', async () => {
    index.subscribed.add('acc_2')
    await live(1)
    await live(2, WITH_COPRODUCER)
    expect(announced().slice(2)).toEqual(['3 order.created acc_2', '4 order.paid acc_2'])
    expect(changes('acc_2')[0]).toMatchObject({ status: [null, 'PAID'] })
  })

  it('a co-producer who leaves receives order.removed', async () => {
    index.subscribed.add('acc_2')
    await live(1, WITH_COPRODUCER)
    await live(2)
    expect(announced().slice(4)).toEqual(['3 order.removed acc_2'])
  })

  it('an erasure announces order.removed to every account', async () => {
    index.subscribed.add('acc_2')
    await live(1, WITH_COPRODUCER)
    await live(2, { deleted: true })
    expect(announced().slice(4)).toEqual(['3 order.removed acc_1', '3 order.removed acc_2'])
  })

  it('an order that comes back after an erasure begins with order.created', async () => {
    await live(1)
    await live(2, { deleted: true })
    await live(3)
    expect(announced().slice(3)).toEqual(['4 order.created acc_1', '5 order.paid acc_1'])
    expect(changes()[3]).toMatchObject({ status: [null, 'PAID'] })
  })

  it('an order that becomes visible begins with order.created', async () => {
    await live(1, INVISIBLE)
    await live(2)
    expect(announced()).toEqual(['1 order.created acc_1', '2 order.paid acc_1'])
  })
})

describe('a silent write', () => {
  it('a load of history sets the announced state without an event', async () => {
    await history(1, AWAITING)
    await live(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
    expect(changes()[0]).toMatchObject({ status: ['AWAITING_PAYMENT', 'PAID'] })
  })

  it('a reprojection announces nothing', async () => {
    await live(1)
    index.downgradeSchema('acc_1', 'ord_1', 'metadata')
    await reproject(1, { metadata: { origin: 'checkout' } })
    expect(announced()).toHaveLength(2)
  })

  it('a reprojection as history announces nothing of a newer version', async () => {
    await live(1, AWAITING)
    await reproject(2, PAID, 'history')
    expect(announced()).toHaveLength(2)
  })

  it('a repair of an indexed version announces nothing', async () => {
    await live(1)
    index.put('acc_1', 'ord_1', undefined)
    expect(await repair(1)).toBe('written')
    expect(announced()).toHaveLength(2)
  })
})

describe('a write that announces only changes since an instant', () => {
  const LOSS = Date.parse('2026-03-10T00:00:00Z')
  const BEFORE = '2026-03-09T23:59:59.999Z'
  const SINCE = '2026-03-10T00:00:00Z'

  it('sets the announced state of earlier changes, and announces the next change from there', async () => {
    await recover(1, LOSS, { ...AWAITING, changed_at: BEFORE })
    await live(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
    expect(changes()[0]).toMatchObject({ status: ['AWAITING_PAYMENT', 'PAID'] })
  })

  it('announces a change at the instant', async () => {
    await recover(1, LOSS, { ...AWAITING, changed_at: BEFORE })
    await recover(2, LOSS, { ...PAID, changed_at: SINCE })
    expect(announced()).toEqual(['1 order.paid acc_1'])
  })

  it('announces nothing of a later version from before the instant', async () => {
    await recover(1, LOSS, { ...AWAITING, changed_at: BEFORE })
    await recover(2, LOSS, { ...PAID, changed_at: BEFORE })
    expect(announced()).toEqual([])
  })

  it.each([
    ['no earlier order', BEFORE, 0],
    ['an order of that instant', SINCE, 2],
  ])('without changed_at it announces %s', async (_which, created_at, count) => {
    await recover(1, LOSS, { changed_at: null, created_at })
    expect(announced()).toHaveLength(count)
  })

  it('announces an erasure, which has no date', async () => {
    await recover(1, LOSS, { changed_at: BEFORE })
    await recover(2, LOSS, { deleted: true })
    expect(announced()).toEqual(['1 order.removed acc_1'])
  })

  it('announces nothing where only the version record was lost', async () => {
    index.subscribed.clear()
    await crashAfter(1, 1, { changed_at: BEFORE }) // The view.
    index.subscribed.add('acc_1')
    await recover(1, LOSS, { changed_at: BEFORE })
    expect([announced(), index.record('ord_1')?.version]).toEqual([[], 1])
  })
})

describe('a live reprojection', () => {
  it('announces an order that is new to the index', async () => {
    await reproject(1, AWAITING)
    expect(announced()).toEqual(['1 order.created acc_1', '2 order.awaiting_payment acc_1'])
  })

  it('announces a newer version', async () => {
    await live(1, AWAITING)
    await reproject(2, PAID)
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1'])
    expect(changes().at(-1)).toMatchObject({ status: ['AWAITING_PAYMENT', 'PAID'] })
  })

  it('announces a newer version over a document of an older schema version', async () => {
    await live(1, AWAITING)
    index.downgradeSchema('acc_1', 'ord_1', 'metadata')
    await reproject(2, PAID)
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1'])
  })

  it('announces the removal of an order', async () => {
    await live(1)
    await reproject(2, { deleted: true })
    expect(announced().slice(2)).toEqual(['3 order.removed acc_1'])
  })

  it('announces a newer version from the stored view to an account with a first endpoint', async () => {
    index.subscribed.clear()
    await live(1, AWAITING)
    index.subscribed.add('acc_1')
    await reproject(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
  })

  it.each([0, 1, 2, 3])('announces a version once that crashed after %i writes', async (items) => {
    await live(1, AWAITING)
    await crashAfter(items, 2, PAID)
    await reproject(2, PAID)
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1'])
  })
})

describe('an account that gets its first endpoint', () => {
  beforeEach(async () => {
    index.subscribed.clear()
    await live(1, AWAITING)
    index.subscribed.add('acc_1')
  })

  it('receives the next change from the state of the stored view', async () => {
    await live(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
    expect(changes()[0]).toMatchObject({ status: ['AWAITING_PAYMENT', 'PAID'] })
  })

  it('receives a renewal, because the last payment is always recorded', async () => {
    index.subscribed.clear()
    await live(2, PAID)
    index.subscribed.add('acc_1')
    await live(3, RENEWED)
    expect(announced()).toEqual(['1 order.payment_received acc_1'])
  })

  it('loses no change when the writer crashes after the view', async () => {
    await crashAfter(1, 2, PAID) // Only completes the announced state.
    expect(index.record('ord_1')).toMatchObject({
      version: 1,
      announced: { tracked: { state: { status: 'AWAITING_PAYMENT' } } },
    })
    await crashAfter(1, 2, PAID) // The view.
    await live(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
  })

  it('receives no update for an unchanged view', async () => {
    await live(2, AWAITING)
    expect(announced()).toEqual([])
  })
})

describe('an order that an earlier release wrote', () => {
  /** Writes a version, as a release before the announced state did. */
  async function writeEarlier(version: number, given: Version): Promise<void> {
    index.subscribed.clear()
    await live(version, given)
    const { announced: _later, ...record } = index.record('ord_1') ?? expect.fail('no record')
    await putVersionRecord(index, record)
    index.subscribed.add('acc_1')
  }

  it('announces the next change from the stored view', async () => {
    await writeEarlier(1, AWAITING)
    await live(2, PAID)
    expect(announced()).toEqual(['1 order.paid acc_1'])
  })

  it('announces no payment for a version without another one', async () => {
    await writeEarlier(1, PAID)
    await live(2, PAID)
    expect(announced()).toEqual([])
    await live(3, RENEWED)
    expect(announced()).toEqual(['1 order.payment_received acc_1'])
  })

  it('announces a declined charge that the stored view does not show', async () => {
    await writeEarlier(1, AWAITING)
    await live(2, { ...AWAITING, payments: [sourcePayment({ status: 'DECLINED' })] })
    expect(announced()).toEqual(['1 order.payment_declined acc_1'])
  })
})

describe('a crash', () => {
  it.each([0, 1, 2, 3])('after %i writes, a repeated version is announced once', async (items) => {
    await live(1, AWAITING)
    await crashAfter(items, 2, PAID)
    await live(2, PAID)
    await live(3, REFUNDED)
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1', '4 order.refunded acc_1'])
  })

  it.each([0, 1, 2, 3])(
    'after %i writes of a first version, it is announced once',
    async (items) => {
      await crashAfter(items, 1, AWAITING)
      await live(1, AWAITING)
      expect(announced()).toEqual(['1 order.created acc_1', '2 order.awaiting_payment acc_1'])
    },
  )

  it('a later version starts at the announced state of the crashed one', async () => {
    await live(1, AWAITING)
    await crashAfter(2, 2, PAID)
    await live(3, REFUNDED)
    expect(changes().at(-1)).toMatchObject({ status: ['PAID', 'REFUNDED'] })
  })

  it('a later version announces the change of one that crashed before its event', async () => {
    await live(1, AWAITING)
    await crashAfter(1, 2, PAID)
    await live(3, REFUNDED)
    expect(changes().at(-1)).toMatchObject({ status: ['AWAITING_PAYMENT', 'REFUNDED'] })
  })

  it('an older version does not revert the announced one', async () => {
    await live(1, AWAITING)
    await crashAfter(2, 3, PAID)
    expect(await live(2, { deleted: true })).toBe('older')
    expect(index.order('acc_1', 'ord_1')).toMatchObject({ status: 'PAID' })
    expect(await live(3, PAID)).toBe('written')
    expect(announced().slice(2)).toEqual(['3 order.paid acc_1'])
  })

  it('a repair writes an older version, since a restore may have lost the announced one', async () => {
    await live(1, AWAITING)
    await crashAfter(2, 3, PAID)
    index.put('acc_1', 'ord_1', undefined)
    expect(await repair(2)).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a load of history after a crash continues the sequence and announces nothing', async () => {
    await live(1, AWAITING)
    await crashAfter(2, 2, PAID)
    await history(3, REFUNDED)
    await live(4, PAID)
    expect(announced().slice(3)).toEqual(['4 order.paid acc_1'])
    expect(changes().at(-1)).toMatchObject({ status: ['REFUNDED', 'PAID'] })
  })

  it('a co-producer whose first view was announced before the crash joins once', async () => {
    index.subscribed.add('acc_2')
    await live(1)
    await crashAfter(2, 2, WITH_COPRODUCER)
    await live(2, WITH_COPRODUCER)
    expect(announced().slice(2)).toEqual(['3 order.created acc_2', '4 order.paid acc_2'])
  })

  it.each([0, 1, 2, 3])(
    'an erasure that crashes after %i writes is announced to a co-producer of a crashed version',
    async (items) => {
      index.subscribed.clear()
      index.subscribed.add('acc_2')
      await live(1)
      await crashAfter(2, 2, WITH_COPRODUCER)
      await crashAfter(items, 3, { deleted: true })
      await live(3, { deleted: true })
      expect(announced()).toEqual([
        '1 order.created acc_2',
        '2 order.paid acc_2',
        '3 order.removed acc_2',
      ])
    },
  )
})

describe('a writer whose clock is set back', () => {
  const instants = () => index.events.map(({ recordedAt }) => recordedAt)

  beforeEach(() => live(1, AWAITING))

  it('dates an event no earlier than the last one of its order', async () => {
    setClock(NOW - HOUR_MS)
    await live(2, PAID)
    await live(3, REFUNDED)
    expect(instants()).toEqual([NOW, NOW, NOW])
  })

  it('dates the events with its clock again once that is later', async () => {
    setClock(NOW - HOUR_MS)
    await live(2, PAID)
    setClock(NOW + 1)
    await live(3, REFUNDED)
    expect(instants()).toEqual([NOW, NOW, NOW + 1])
  })

  it('dates an event no earlier than one whose version record was lost in a crash', async () => {
    setClock(NOW + HOUR_MS)
    await crashAfter(2, 2, PAID)
    setClock(NOW)
    await live(3, REFUNDED)
    expect(instants()).toEqual([NOW, NOW + HOUR_MS, NOW + HOUR_MS])
  })

  it('dates an event no earlier than the last one before versions without an event', async () => {
    await history(2, PAID)
    index.subscribed.clear()
    await live(3, AWAITING)
    index.subscribed.add('acc_1')
    setClock(NOW - HOUR_MS)
    await live(4, PAID)
    expect(instants()).toEqual([NOW, NOW])
  })
})
