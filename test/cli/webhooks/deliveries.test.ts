import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../../src/lib/durations.ts'
import { runCommand, startInProcess } from '../../support/cli/command.ts'
import { attempt } from '../../support/webhooks/delivery.ts'
import { openWebhookCommands } from './webhook-commands.ts'

const commands = openWebhookCommands()
const { run, json, create, deliver, env } = commands
/** An endpoint for commands that exit 2, which change nothing. */
let unchangedId: string
beforeAll(async () => {
  await commands.loadOrder()
  unchangedId = (await create()).id
})
afterAll(commands.remove)

const done = { state: 'expired', nextAt: null } as const
const since = (msAgo: number) => new Date(Date.now() - msAgo).toISOString()

describe('webhooks deliveries', () => {
  it('prints the deliveries of an endpoint with their attempts as JSON', async () => {
    const { id } = await create()
    const made = await deliver(id, { attempts: [attempt({ at: 1_000 })], nextAt: 2_000 })
    expect(await json('deliveries', id)).toEqual([
      {
        id: made.id,
        event_id: made.event.id,
        type: 'order.paid',
        order_id: 'ord_1',
        sequence: 1,
        state: 'pending',
        next_at: '1970-01-01T00:00:02.000Z',
        attempts: [
          {
            at: '1970-01-01T00:00:01.000Z',
            status: 500,
            error: 'the receiver returned 500',
            duration_ms: 12.5,
          },
        ],
      },
    ])
  })

  it('prints the newest first, and with --failed only what failed or expired', async () => {
    const { id } = await create()
    for (const [at, state] of (['expired', 'delivered', 'failed'] as const).entries()) {
      const event = { sequence: at + 1, recordedAt: Date.now() + at }
      await deliver(id, { event, state, nextAt: null })
    }
    const sequences = async (...args: string[]) =>
      (await json('deliveries', id, ...args)).map(({ sequence }: { sequence: number }) => sequence)
    expect(await sequences()).toEqual([3, 2, 1])
    expect(await sequences('--failed')).toEqual([3, 1])
    expect(await sequences('--limit', '2')).toEqual([3, 2])
  })

  it('prints one line for each delivery by default, with its last result', async () => {
    const { id } = await create()
    const made = await deliver(id, { attempts: [attempt()], ...done })
    const { code, stdout } = await run('deliveries', id)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^id +type +order_id +sequence +state +attempts +last_attempt /)
    const line = new RegExp(`^${made.id} +order\\.paid +ord_1 +1 +expired +1 .*returned 500`, 'm')
    expect(stdout).toMatch(line)
  })

  it.each(['0', '-1', '1.5', 'x', '1001'])('exits 2 for the limit %s', async (limit) => {
    const { code, stdout, stderr } = await run('deliveries', unchangedId, '--limit', limit)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('1 to 1000')
  })
})

describe('webhooks resend', () => {
  it('makes a delivery due at once', async () => {
    const { id } = await create()
    const made = await deliver(id, { ...done, attempts: [attempt()] })
    const resent = await json('resend', made.id)
    expect(resent).toMatchObject({ id: made.id, state: 'pending', attempts: [{ status: 500 }] })
    expect(Date.parse(resent.next_at)).toBeLessThanOrEqual(Date.now())
  })

  it('exits 1 for a delivery that does not exist, and names it', async () => {
    const { code, stdout, stderr } = await run('resend', 'dlv_none')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('there is no delivery dlv_none')
  })

  it('exits 1 for an order that the account no longer has, and names it', async () => {
    const { id } = await create()
    const made = await deliver(id, { ...done, event: { orderId: 'ord_erased' } })
    const { code, stdout, stderr } = await run('resend', made.id)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('no longer has the order ord_erased')
  })

  it.each([
    ['disabled', 'disable', 'enable it first'],
    ['deleted', 'delete', 'was deleted'],
  ])('exits 1 for a %s endpoint', async (_name, command, message) => {
    const { id } = await create()
    const made = await deliver(id, done)
    await run(command, id)
    const { code, stdout, stderr } = await run('resend', made.id)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('webhooks replay', () => {
  it('prints how many deliveries are due again', async () => {
    const { id } = await create()
    const delivered = { state: 'delivered', nextAt: null } as const
    await deliver(id, delivered)
    await deliver(id, { ...done, event: { sequence: 2 } })
    expect(await json('replay', id, '--since', since(HOUR_MS), '--failed')).toEqual({ replayed: 1 })
    expect(await json('replay', id, '--since', since(HOUR_MS))).toEqual({ replayed: 1 })
    const { code, stdout } = await run('replay', id, '--since', since(HOUR_MS))
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'replayed: 0\n' })
  })

  it('exits 2 for an instant before the oldest delivery kept, by WEBHOOK_RETENTION_DAYS', async () => {
    const { id } = await create()
    const { code, stdout, stderr } = await run('replay', id, '--since', since(31 * DAY_MS))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('too far back: deliveries are kept for 30 days')
    const args = ['webhooks', 'replay', id, '--since', since(31 * DAY_MS)]
    expect((await runCommand(args, { ...env, WEBHOOK_RETENTION_DAYS: '60' })).code).toBe(0)
  })

  it.each([
    ['an instant in the future', since(-HOUR_MS)],
    ['a date without time', '2026-03-01'],
    ['an instant without zone', '2026-03-01T00:00:00'],
    ['a duration', '24h'],
  ])('exits 2 for %s', async (_name, instant) => {
    const { code, stdout, stderr } = await run('replay', unchangedId, '--since', instant)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/in the future|instant with zone/)
  })

  it('exits 2 without --since', async () => {
    expect((await run('replay', unchangedId)).code).toBe(2)
  })

  it('exits 1 for a disabled endpoint', async () => {
    const { id } = await create()
    await run('disable', id)
    const { code, stderr } = await run('replay', id, '--since', since(HOUR_MS))
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(id) })
  })
})

describe('webhooks test', () => {
  it('prints the pending delivery where no dispatcher runs, and says so', async () => {
    const { id } = await create()
    const { code, stdout, stderr } = await run('test', id, '--json')
    expect(code).toBe(0)
    expect(stderr).toContain('no dispatcher runs')
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^dlv_/),
      event_id: expect.stringMatching(/^evt_[0-9A-Za-z]{24}$/),
      type: 'webhook.test',
      order_id: null,
      sequence: null,
      state: 'pending',
      next_at: expect.any(String),
      attempts: [],
    })
    expect(await json('deliveries', id)).toHaveLength(1)
  })

  it.each([
    [204, null, 'delivered', 0],
    [500, 'the receiver returned 500', 'pending', 1],
  ] as const)(
    'prints the attempt of a running dispatcher that received %d, and exits by it',
    async (status, error, state, exitCode) => {
      const { id } = await create()
      await commands.withServices(async ({ webhooks: { acquireLease, deliveries } }) => {
        const signal = new AbortController().signal
        const lease = await acquireLease({ onDelay() {}, signal })
        const command = startInProcess(['webhooks', 'test', id, '--json'], env)
        await vi.waitFor(async () => {
          const [due] = await deliveries.list({ endpointId: id, limit: 1 })
          if (due === undefined) throw new Error('expected a delivery')
          const nextAt = state === 'pending' ? due.nextAt : null
          const attempts = [attempt({ at: Date.now(), status, error })]
          await deliveries.save([{ ...due, state, nextAt, attempts }])
        }, 20_000)
        const { code, stdout, stderr } = await command.finished
        expect({ code, stderr }).toEqual({ code: exitCode, stderr: '' })
        expect(JSON.parse(stdout)).toMatchObject({ state, attempts: [{ status, error }] })
        await lease.release()
      })
    },
  )

  it('exits 1 for a disabled endpoint', async () => {
    const { id } = await create()
    await run('disable', id)
    const { code, stdout, stderr } = await run('test', id)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`${id} is disabled (manual)`)
  })
})
