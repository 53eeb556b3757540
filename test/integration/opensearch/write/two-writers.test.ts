import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { runCommand, startCommand } from '../../../support/cli/command.ts'
import { readOrder } from '../../../support/orders/read-order.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import {
  type Backend,
  createBackend,
  EXPIRING_LEASE,
  EXPIRING_LEASE_MS,
  LEASE_MS,
} from '../../../support/stores/backend.ts'

let backend: Backend
let services: Services
beforeEach(async () => {
  backend = createBackend()
  services = await openServices(parseConfig(backend.env))
  await services.initialize()
})
afterEach(async () => {
  await services.close()
  await backend.remove()
})

const LOAD = ['index', 'load', '-', '--live']
/** Lines per bulk. */
const BULK = 1_000
const bulkOf = (version: number, from = 0) =>
  Array.from({ length: BULK }, (_, n) =>
    JSON.stringify(sourceOrder({ id: `ord_${from + n}`, version, amount_total: version })),
  ).join('\n')

const ONE_MORE = JSON.stringify(sourceOrder({ id: 'ord_more' }))

const load = (version: number) => runCommand(LOAD, backend.env, bulkOf(version))

async function amount(id: string): Promise<number | undefined> {
  return (await readOrder(services.orders, id))?.amount_total
}

/** A load that wrote its first bulk, orders 0 to 999 in version 1, and waits for input. */
async function startLoad(env: Record<string, string> = {}) {
  const child = startCommand(LOAD, { ...backend.env, ...env })
  const stderr = text(child.stderr)
  child.stdin.on('error', () => {})
  child.stdin.write(`${bulkOf(1)}\n${ONE_MORE}\n`) // This line fills the bulk, which is then sent.
  await expect.poll(() => amount('ord_999'), { timeout: 60_000 }).toBe(1)
  return { child, stderr, ended: once(child, 'close') }
}

const waitingFor = (leaseMs: number) =>
  new RegExp(
    `^waiting for another writer to end \\(.+\\); the lease of a dead writer expires in ${leaseMs / 1000} s`,
  )

/** A load of orders 0 to 999 that waits for another writer. */
async function startWaiting(version: number) {
  const child = startCommand(LOAD, backend.env)
  const firstOutput = once(child.stderr, 'data')
  const stderr = text(child.stderr)
  const ended = once(child, 'close')
  child.stdin.on('error', () => {})
  child.stdin.end(bulkOf(version))
  await firstOutput
  return { child, stderr, ended }
}

describe('two concurrent writers', () => {
  it('the second writer waits for the first, reports the wait, and then writes', async () => {
    const { child, ended } = await startLoad()
    const second = await startWaiting(2)
    expect(await amount('ord_0')).toBe(1)

    child.stdin.end(`${bulkOf(1, BULK)}\n`)
    await ended
    expect(child.exitCode).toBe(0)
    await second.ended
    expect(second.child.exitCode).toBe(0)
    expect(await second.stderr).toMatch(waitingFor(LEASE_MS))
    expect(await amount('ord_0')).toBe(2)
    expect(await amount('ord_1000')).toBe(1)
  })

  it('the second writer waits longer than a lease and reports it once', async () => {
    const { child, ended } = await startLoad()
    const second = await startWaiting(2)
    await pause(1.5 * LEASE_MS)
    expect([second.child.exitCode, await amount('ord_0')]).toEqual([null, 1])
    child.kill('SIGINT')
    await ended
    await second.ended
    expect((await second.stderr).match(/waiting for another writer/g)).toHaveLength(1)
    expect(await amount('ord_0')).toBe(2)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'the second writer stops on %s while it waits and writes nothing',
    async (signal) => {
      const { child, ended } = await startLoad()
      const second = await startWaiting(2)
      second.child.kill(signal)
      await second.ended
      expect(second.child.exitCode).toBe(1)
      expect(await second.stderr).toContain('interrupted while another writer was at work')
      expect(await amount('ord_0')).toBe(1)

      child.stdin.end(`${bulkOf(1, BULK)}\n`)
      await ended
      expect(child.exitCode).toBe(0)
    },
  )

  it('the second writer starts immediately after the first ends', async () => {
    await load(1)
    expect(await load(2)).toMatchObject({ code: 0, stderr: '' })
    expect(await amount('ord_0')).toBe(2)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'the second writer starts immediately after %s stops the first',
    async (signal) => {
      const { child, ended } = await startLoad()
      child.kill(signal)
      await ended
      expect(await load(2)).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it('the second writer waits for the lease of a killed first writer and reports it', async () => {
    const { child, ended } = await startLoad(EXPIRING_LEASE)
    child.kill('SIGKILL')
    await ended
    const second = await load(2)
    expect(second.code).toBe(0)
    expect(second.stderr).toMatch(waitingFor(EXPIRING_LEASE_MS))
    expect(await amount('ord_0')).toBe(2)
  })

  it('the second writer replaces a frozen first, which writes nothing after it resumes', async () => {
    const { child, stderr, ended } = await startLoad(EXPIRING_LEASE)
    child.kill('SIGSTOP')
    expect(await load(2)).toMatchObject({ code: 0 })
    child.stdin.end(`${bulkOf(3, BULK)}\n`)
    await pause(100)
    child.kill('SIGCONT')
    await ended

    expect(child.exitCode).toBe(1)
    expect(await stderr).toContain('another writer took over')
    expect(await amount('ord_0')).toBe(2)
    expect(await amount('ord_1000')).toBeUndefined()
  })
})
