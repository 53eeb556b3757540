import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessResult, runCommand, runProcess, startCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend, onServices, opensearch } from '../support/stores/backend.ts'

let backend: Backend
beforeEach(() => {
  backend = createBackend()
})
afterEach(() => backend.remove())

const load = (input: string | Buffer, ...args: string[]) =>
  runCommand(['index', 'load', '-', '--json', ...args], backend.env, input)

const line = (id: string) => JSON.stringify(sourceOrder({ id }))

describe('index load', () => {
  it('reads a file and prints a summary on stdout', async () => {
    const file = join(backend.folder, 'orders.ndjson')
    writeFileSync(file, `${line('ord_1')}\n\n${line('ord_2')}\r\n${line('ord_1')}`)
    const args = ['index', 'load', file]
    const { code, stdout, stderr } = await runCommand(args, backend.env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^read: 3, written: 2, unchanged: 0, older: 1, refused: 0, customer documents dropped: 0, seconds: [\d.]+\n$/,
    )
  })

  it('counts documents that are neither CPF nor CNPJ', async () => {
    const customer = { name: 'Rita', email: 'rita@exemplo.com.br', document: '123' }
    const { stdout } = await load(JSON.stringify(sourceOrder({ customer })))
    expect(JSON.parse(stdout)).toMatchObject({ written: 1, customer_documents_dropped: 1 })
  })

  it('exits 1 and names a file that it cannot read', async () => {
    const args = ['index', 'load', 'nowhere.ndjson']
    const { code, stderr } = await runCommand(args, backend.env)
    expect(code).toBe(1)
    expect(stderr).toContain('nowhere.ndjson')
  })

  it('exits 1 and names a folder given as the file', async () => {
    const { code, stderr } = await runCommand(['index', 'load', backend.folder], backend.env)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`cannot read orders from ${backend.folder}`),
    })
  })

  it.each([['', []], ...(onServices ? [[' with --stream', ['--stream']] as const] : [])] as const)(
    'exits 1 and names a file that exists but cannot be opened%s',
    async (_how, flags) => {
      const file = join(backend.folder, 'socket')
      const server = createServer().listen(file)
      await once(server, 'listening')
      const { code, stderr } = await runProcess(['index', 'load', file, ...flags], backend.env)
      server.close()
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(`^cannot read orders from ${file}: ENXIO.*\n$`),
      })
    },
  )

  it('continues when its output pipe is closed', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => (n % 2 ? 'no order' : line(`ord_${n}`)))
    const child = startCommand(['index', 'load', '-'], backend.env)
    child.stderr.destroy()
    child.stdin.end(lines.join('\n'))
    expect(await text(child.stdout)).toContain('read: 3000, written: 1500')
  })

  it.each([
    ['', () => {}],
    [' in a pipe that ends with it', (stdin: Writable) => stdin.end()],
  ])(
    'index load interrupted%s keeps what it wrote, prints its progress, and exits 1',
    async (_where, end) => {
      const child = startCommand(['index', 'load', '-'], backend.env)
      const said = text(child.stderr)
      const lines = Array.from({ length: 1_100 }, (_, n) => line(`ord_${n}`))
      child.stdin.write(`${lines.join('\n')}\n{"half`)
      await expect.poll(() => countOrders(backend), { timeout: 100_000 }).toBe(1_000)
      child.kill('SIGINT')
      end(child.stdin)
      await once(child, 'close')
      expect(child.exitCode).toBe(1)
      expect(await said).toBe(
        'stopped after line 1000: resume with --from-line 1001\ninterrupted\n',
      )
    },
  )

  it('accepts an empty input', async () => {
    const { code, stdout } = await load('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ read: 0, written: 0 })
  })

  it('keeps changed_at of a first version, and stamps it with --live', async () => {
    const changed_at = new Date(Date.now() + 3_600_000).toISOString()
    const future = JSON.stringify(sourceOrder({ changed_at }))
    expect((await load(future)).stderr).toContain(
      '/changed_at: expected an instant that is not in the future',
    )
    expect((await load(future, '--live')).code).toBe(0)
  })
})

/** Each is placed between two valid orders. */
const REJECTED: [name: string, line: string | Buffer, message: string][] = [
  ['a truncated line', '{"id":"ord_2","ver', 'expected one JSON object'],
  ['no object', '[]', 'expected an object, got a list'],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
  ['a line of 10 MB', `"${'x'.repeat(10_000_000)}"`, 'longer than'],
  [
    'an amount with a fraction',
    JSON.stringify(sourceOrder({ id: 'ord_2', amount_total: 1.5 })),
    '/amount_total: expected an integer from 0 to 2^53 − 1, got 1.5',
  ],
  [
    'an instant without zone',
    JSON.stringify(sourceOrder({ id: 'ord_2', created_at: '2026-03-01T12:00:00' })),
    '/created_at: expected an RFC 3339 date-time with time and zone',
  ],
  [
    '10,000 tracking keys',
    JSON.stringify(sourceOrder({ id: 'ord_2', tracking: trackingKeys(10_000) })),
    '/tracking: expected a map of at most 1000 texts',
  ],
  [
    'another owner',
    JSON.stringify(sourceOrder({ id: 'ord_1', version: 2, owner_account_id: 'acc_9' })),
    '/owner_account_id: the owner of an order never changes',
  ],
  [
    'another creation',
    JSON.stringify(sourceOrder({ id: 'ord_1', version: 2, created_at: '2026-01-01T00:00:00Z' })),
    '/created_at: the creation of an order never changes',
  ],
  [
    'a wrong type in a nested field',
    JSON.stringify(sourceOrder({ id: 'ord_2' })).replace('"amount":9900', '"amount":"9900"'),
    '/payments/0/amount: expected an integer',
  ],
]

describe('index load of rejected lines', () => {
  let finished: ProcessResult
  beforeAll(async () => {
    const own = createBackend()
    const lines = [line('ord_1'), ...REJECTED.map(([, bad]) => bad), line('ord_3')]
    const input = Buffer.concat(lines.flatMap((text) => [Buffer.from(text), Buffer.from('\n')]))
    finished = await runCommand(['index', 'load', '-', '--json'], own.env, input)
    await own.remove()
  })

  it.each(REJECTED)(
    'prints the line number, the path and the reason of %s',
    (_name, bad, message) => {
      const number = 2 + REJECTED.findIndex(([, other]) => other === bad)
      expect(finished.stderr).toContain(`line ${number}: ${message}`)
    },
  )

  it('writes the lines before and after them, and exits 1', () => {
    expect(finished.code).toBe(1)
    const read = REJECTED.length + 2
    const summary = { read, written: 2, refused: REJECTED.length }
    expect(JSON.parse(finished.stdout)).toMatchObject(summary)
  })
})

function trackingKeys(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key_${n}`, 'value']))
}

async function countOrders({ folder, env, refresh }: Backend): Promise<number> {
  if (onServices) {
    await refresh()
    const found = `${env['INDEX_PREFIX']}orders*/_count`
    return (await opensearch<{ count: number }>('GET', found)).count
  }
  const file = join(folder, 'orders.db')
  if (!existsSync(file)) return 0
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(db.prepare('SELECT count(*) AS orders FROM orders').get()?.['orders'])
  } catch {
    return 0 // The tables do not exist yet.
  } finally {
    db.close()
  }
}
