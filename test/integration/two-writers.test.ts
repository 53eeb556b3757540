import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services.ts'
import { type Backend, createBackend } from '../support/backend.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { sourceOrder } from '../support/source-order.ts'

let backend: Backend
let services: Services
beforeEach(async () => {
  backend = createBackend()
  services = await openServices(parseConfig(backend.env))
  await services.prepare()
})
afterEach(async () => {
  await services.close()
  await backend.remove()
})

const LOAD = ['index', 'load', '-', '--live']
/** So many lines are a bulk. */
const BULK = 500
const bulkOf = (version: number, from = 0) =>
  Array.from({ length: BULK }, (_, n) =>
    JSON.stringify(sourceOrder({ id: `ord_${from + n}`, version, amount_total: version })),
  ).join('\n')

const ONE_MORE = JSON.stringify(sourceOrder({ id: 'ord_more' }))

const load = (version: number) => runCommand(LOAD, backend.env, bulkOf(version))

async function amount(id: string): Promise<number | undefined> {
  const json = await services.orders.get('acc_1', id)
  return json === null ? undefined : JSON.parse(Buffer.from(json).toString()).amount_total
}

/** A load that has written its first bulk, orders 0 to 499 in version 1, and waits for more. */
async function startLoad() {
  const child = startCommand(LOAD, backend.env)
  const said = text(child.stderr)
  child.stdin.on('error', () => {})
  child.stdin.write(`${bulkOf(1)}\n${ONE_MORE}\n`) // With which the bulk is full, and sent.
  await expect.poll(() => amount('ord_499'), { timeout: 20_000 }).toBe(1)
  return { child, said, ended: once(child, 'close') }
}

describe('of two writers at once', () => {
  it('the second is told of the first, and writes nothing', async () => {
    const { child, ended } = await startLoad()
    const second = await load(2)
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/another writer is at work \(.*\), and there is one at a time/)
    expect(await amount('ord_0')).toBe(1)
    child.kill('SIGINT')
    await ended
  })

  it('the second begins at once when the first has ended', async () => {
    await load(1)
    expect(await load(2)).toMatchObject({ code: 0, stderr: '' })
    expect(await amount('ord_0')).toBe(2)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'the second begins at once when the first was told to stop by %s',
    async (signal) => {
      const { child, ended } = await startLoad()
      child.kill(signal)
      await ended
      expect(await load(2)).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it('the second waits for the lease of a first that was killed, and says so', async () => {
    const { child, ended } = await startLoad()
    child.kill('SIGKILL')
    await ended
    const second = await load(2)
    expect(second.code).toBe(0)
    expect(second.stderr).toMatch(/^waiting up to 1 s for the lease of a writer that may be gone/)
    expect(await amount('ord_0')).toBe(2)
  })

  it('the second takes over from a frozen first, which writes nothing when it wakes up', async () => {
    const { child, said, ended } = await startLoad()
    child.kill('SIGSTOP')
    expect(await load(2)).toMatchObject({ code: 0 })
    child.stdin.end(`${bulkOf(3, BULK)}\n`)
    await pause(100)
    child.kill('SIGCONT')
    await ended

    expect(child.exitCode).toBe(1)
    expect(await said).toContain('another writer took over')
    expect(await amount('ord_0')).toBe(2)
    expect(await amount('ord_500')).toBeUndefined()
  })
})
