import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices } from '../../src/services.ts'
import { type ApiServer, startApiServer } from '../support/cli/api-server.ts'
import { runCommand, startCommand } from '../support/cli/command.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const SOON = { timeout: 20_000, interval: 50 }

let backend: Backend
let service: ApiServer | undefined
beforeEach(() => {
  backend = createBackend()
  service = undefined
})
afterEach(async () => {
  await service?.close()
  await backend.remove()
})

const load = (id: string, ...args: string[]) =>
  runCommand(['index', 'load', '-', ...args], backend.env, JSON.stringify(sourceOrder({ id })))

async function createKey(): Promise<string> {
  const { stdout } = await runCommand(['keys', 'create', '--account', 'acc_1'], backend.env)
  return stdout.trim()
}

/** Sends one request with a new key; returns once the time of its use is stored. */
async function useKey(): Promise<void> {
  const key = await createKey()
  service = await startApiServer(backend.env)
  const headers = { authorization: `Bearer ${key}` }
  await fetch(`${service.baseUrl}/v1/orders`, { headers })
  const services = await openServices(parseConfig(backend.env))
  await vi
    .waitFor(async () => expect(await services.keys.wasAnyKeyUsed()).toBe(true), SOON)
    .finally(() => services.close())
}

async function updatedAt(id: string): Promise<string | null | undefined> {
  await backend.refresh()
  const services = await openServices(parseConfig(backend.env))
  const order = await readOrder(services.orders, id).finally(() => services.close())
  return order?.updated_at
}

describe('index load without a mode', () => {
  it('keeps changed_at as long as no key was used, even when keys exist', async () => {
    await load('ord_1')
    await createKey()
    expect(await load('ord_2')).toMatchObject({ code: 0, stderr: '' })
    expect([await updatedAt('ord_1'), await updatedAt('ord_2')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('index load without a mode writes nothing after a key was used, and both modes work', async () => {
    await load('ord_1')
    await useKey()
    const { code, stdout, stderr } = await load('ord_2')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^clients may page this index already: an API key was used\. /)
    expect(stderr).toMatch(/ --live +set updated_at to now/)
    expect(stderr).toMatch(/ --history +keep changed_at .*clients that already page miss them/)
    expect(await updatedAt('ord_2')).toBeUndefined()
    expect((await load('ord_2', '--reproject')).code).toBe(1)

    expect((await load('ord_2', '--history')).code).toBe(0)
    expect((await load('ord_3', '--live')).code).toBe(0)
    expect(await updatedAt('ord_2')).toBe(CHANGED_AT)
    expect(Date.parse((await updatedAt('ord_3')) ?? '')).toBeGreaterThan(Date.parse(CHANGED_AT))
  })

  it.each(['--live', '--repair'])(
    'index load without a mode is rejected after a load with %s that wrote',
    async (mode) => {
      expect((await load('ord_1', mode)).code).toBe(0)
      const { code, stderr } = await load('ord_2')
      expect(code).toBe(1)
      expect(stderr).toContain('orders were stamped live')
      expect(await updatedAt('ord_2')).toBeUndefined()
      expect((await load('ord_2', '--history')).code).toBe(0)
      expect(await updatedAt('ord_2')).toBe(CHANGED_AT)
    },
  )

  it('index load without a mode is accepted after a live load that wrote nothing, and after a history load', async () => {
    await runCommand(['index', 'load', '-', '--live'], backend.env, '')
    await load('ord_1', '--history')
    expect(await load('ord_2')).toMatchObject({ code: 0, stderr: '' })
  })

  it('index load without a mode sets updated_at to now for orders that it wrote before it found the first use of a key', async () => {
    const child = startCommand(['index', 'load', '-'], backend.env)
    const lines = Array.from({ length: 1_000 }, (_, n) =>
      JSON.stringify(sourceOrder({ id: `ord_${n}` })),
    )
    child.stdin.write(`${lines.join('\n')}\n`)
    await expect.poll(() => updatedAt('ord_999'), { timeout: 100_000 }).toBe(CHANGED_AT)
    await useKey()
    child.stdin.end()
    expect(await text(child.stdout)).toContain('read: 1000, written: 1000')
    expect(Date.parse((await updatedAt('ord_0')) ?? '')).toBeGreaterThan(Date.parse(CHANGED_AT))
  })

  it('needs no mode to validate lines', async () => {
    await load('ord_1', '--live')
    expect((await load('ord_2', '--dry-run')).code).toBe(0)
  })
})

describe('the mode options of index load', () => {
  it.each([
    ['--live', '--history'],
    ['--live', '--repair'],
    ['--history', '--repair'],
    ['--repair', '--reproject'],
    ['--stream', '--history'],
    ['--stream', '--repair'],
    ['--stream', '--announce-since=2026-03-01T00:00:00Z'],
    ['--history', '--announce-since=2026-03-01T00:00:00Z'],
  ])('index load rejects %s together with %s as a usage error', async (one, other) => {
    const { code, stderr } = await load('ord_1', one, other)
    expect(code).toBe(2)
    expect(stderr).toMatch(/cannot be used with option/)
  })

  it.each([
    [[], /^warning: --announce-since has no effect without --live or --repair/],
    [['--live'], /^$/],
    [['--repair'], /^$/],
  ])(
    'index load warns of --announce-since where no webhook is sent: %j',
    async (mode, expected) => {
      const { code, stderr } = await load('ord_1', '--announce-since=2026-03-01T00:00:00Z', ...mode)
      expect(code).toBe(0)
      expect(stderr).toMatch(expected)
    },
  )

  it('the mode options of index load are listed in the help', async () => {
    const { stdout } = await runCommand(['index', 'load', '--help'], backend.env)
    for (const option of ['--live', '--history', '--repair']) expect(stdout).toContain(option)
  })
})
