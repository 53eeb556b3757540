import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createRandom } from '../../../../src/demo/random.ts'
import type { FoundView } from '../../../../src/orders/order-store.ts'
import { type EventRecord, firstSequence } from '../../../../src/webhooks/events/event-record.ts'
import { runCommand, startCommand } from '../../../support/cli/command.ts'
import { createHistory } from '../../../support/simulation/change-history.ts'
import { KILL_LOOP_LEASE } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { subscribe } from '../../../support/webhooks/recorded-events.ts'

const KILLS = 4
const CHANGES = 4_000
const LONGEST_LIFE_MS = 2_500
const ACCOUNTS = ['acc_north', 'acc_south']

const test = useServices()

async function recordsByOrder(): Promise<EventRecord[][]> {
  await test.refresh()
  const page = await test.services.webhooks.events.next(10_000)
  const byOrder = Map.groupBy(page?.records ?? [], ({ orderId }) => orderId)
  return [...byOrder.values()].map((records) =>
    records.toSorted((one, other) => firstSequence(one) - firstSequence(other)),
  )
}

/** The status and payment that an account sees; `null` without a view. */
function shownState(view: FoundView | undefined) {
  if (view === null) return null
  if (!(view instanceof Uint8Array)) throw view
  const { status, payment } = JSON.parse(Buffer.from(view).toString())
  return { status, payment_status: payment.status, amount_refunded: payment.amount_refunded }
}

it(`the events of ${CHANGES} changes have no gap, no repetition and no false state after ${KILLS} kills`, async () => {
  await test.services.initialize()
  await subscribe(test, ...ACCOUNTS.flatMap((account) => [account, `${account}_partner`]))
  const random = createRandom(1, 8, 0)
  const history = createHistory(5, ACCOUNTS)
  const file = join(test.folder, 'orders.ndjson')
  const changes = Array.from({ length: CHANGES }, () => history.next())
  const owners = new Map(changes.map(({ id, owner_account_id }) => [id, owner_account_id]))
  await writeFile(file, changes.map((change) => JSON.stringify(change)).join('\n'))
  const load = ['index', 'load', file, '--live']
  for (let kill = 0; kill < KILLS; kill++) {
    const child = startCommand(load, { ...test.env, ...KILL_LOOP_LEASE })
    const ended = once(child, 'close')
    await pause(random.between(300, LONGEST_LIFE_MS))
    child.kill('SIGKILL')
    await ended
  }
  expect(await runCommand(load, test.env)).toMatchObject({ code: 0 })

  const orders = await recordsByOrder()
  expect(orders.length).toBeGreaterThan(0)
  const ids = orders.map(([first]) => first?.orderId ?? '')
  const views = await test.services.orders.getMany(
    ids.map((orderId) => ({ accountId: owners.get(orderId) ?? '', orderId })),
  )
  for (const [at, records] of orders.entries()) {
    const sequences = records.flatMap(({ events }) => events.map(({ sequence }) => sequence))
    expect(sequences).toEqual(sequences.map((_, nth) => nth + 1))
    const last = records.at(-1)
    // The record of an erasure keeps no state.
    const starts = records.map(({ after }, nth) => after && (records[nth - 1]?.after ?? null))
    expect(records.map(({ before }) => before)).toEqual(starts)
    const shown = shownState(views[at])
    if (shown === null) expect(last?.after ?? null).toBeNull()
    else expect(last?.after).toMatchObject(shown)
  }
})
