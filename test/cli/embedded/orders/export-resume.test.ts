import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  beginOrders,
  finish,
  ordersInShell,
  type Place,
  runOrders,
  runShell,
  spawnOrders,
} from '../../../support/orders-cli/orders-cli.ts'
import {
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'

const CSV = ['export', '--format', 'csv-br', '--out', 'pedidos de hoje.csv'] as const
const FILE = 'pedidos de hoje.csv'
/** The hint, after the words that called the program. */
const RESUME = `export --resume --format csv-br --out '${FILE}'`

let service: OrdersService
let whole: Buffer
beforeAll(async () => {
  service = await openOrdersService(1_500)
  await runOrders(CSV, place())
  whole = readFileSync(path(FILE))
  clean()
})
afterAll(() => service.close())
afterEach(() => service.release())

const place = (env: Record<string, string> = {}) => ({
  cwd: service.folder,
  env: { ...service.env, ...env },
})
const path = (name: string) => join(service.folder, name)
const resume = (env?: Record<string, string>) => runOrders([...CSV, '--resume'], place(env))
const outputFiles = () =>
  readdirSync(service.folder)
    .filter((name) => name.startsWith(FILE))
    .sort()
function clean() {
  for (const name of outputFiles()) rmSync(path(name))
}
const maskedKey = () => service.createKey(undefined, 'orders:read_masked')
const ordersInPart = () => {
  const state = path(`${FILE}.part.json`)
  return existsSync(state) ? JSON.parse(readFileSync(state, 'utf8')).orders : 0
}

/** Starts an export that waits for its third page; `start` runs it. */
async function startHeld<T>(
  start: (args: readonly string[], place: Place) => T,
  env?: Record<string, string>,
) {
  service.pauseAfter(3) // The account and two pages.
  const started = start(CSV, place(env))
  await vi.waitUntil(() => ordersInPart() >= 200, { timeout: 30_000, interval: 20 })
  return started
}

/** Leaves an unfinished export behind. */
async function interrupt(env?: Record<string, string>) {
  const run = await startHeld(beginOrders, env)
  run.interrupt()
  await run.finished
  service.release()
}

async function expectResumed() {
  const { code, stderr } = await resume()
  expect(code, stderr).toBe(0)
  expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  expect(outputFiles()).toEqual([FILE])
}

describe('an interrupted export', () => {
  afterEach(clean)

  it('resumes after a SIGKILL to the same file, byte for byte', async () => {
    const child = await startHeld(spawnOrders)
    child.kill('SIGKILL')
    await once(child, 'close')
    service.release()
    expect(ordersInPart()).toBeLessThan(1_300)
    expect(outputFiles()).not.toContain(FILE)
    await expectResumed()
  })

  it('an interrupted export is truncated to its last complete page', async () => {
    await interrupt()
    writeFileSync(path(`${FILE}.part`), 'partial;'.repeat(1_000_000), { flag: 'a' })
    await expectResumed()
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'an export interrupted by %s prints the command that resumes it, and exits %i',
    async (signal, exitCode) => {
      const child = await startHeld(spawnOrders)
      const finished = finish(child)
      child.kill(signal)
      const { code, stderr } = await finished
      expect(code).toBe(exitCode)
      expect(stderr).toContain(`Interrompido.\nPedidos já guardados em ${FILE}.part: `)
      expect(stderr).toContain(` ${RESUME}\n`)
      expect(outputFiles()).toEqual([`${FILE}.part`, `${FILE}.part.json`])
      service.release()
      const pasted = await runShell(stderr.trim().split('\n').at(-1) ?? '', place())
      expect(pasted.code, pasted.stderr).toBe(0)
      expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
    },
  )

  it('an export interrupted by a revoked key names the key, and resumes with another one', async () => {
    const run = await startHeld(beginOrders)
    await service.revokeKeys()
    service.release()
    const { code, stderr } = await run.finished
    expect(code).toBe(1)
    expect(stderr).toMatch(/Chave de API.*\(requisição req_\w+\)/)
    expect(stderr).toContain(`Com uma chave válida, continue com:\n  orders ${RESUME}\n`)
    expect(outputFiles()).not.toContain(FILE)
    service.env.ORDERS_API_KEY = await service.createKey()
    await expectResumed()
  })
})

describe('an unfinished export without personal data', () => {
  afterEach(clean)

  it('is not resumed with a key that reads them', async () => {
    await interrupt({ ORDERS_API_KEY: await maskedKey() })
    const orders = ordersInPart()
    const { code, stderr } = await resume()
    expect(code).toBe(1)
    expect(stderr).toContain('os pedidos dele foram lidos sem dados pessoais, e ela os lê com eles')
    expect(ordersInPart()).toBe(orders)
  })

  it('is resumed with another key that masks them', async () => {
    await interrupt({ ORDERS_API_KEY: await maskedKey() })
    const { code, stderr } = await resume({ ORDERS_API_KEY: await maskedKey() })
    expect(code, stderr).toBe(0)
  })

  it('is resumed with any key after an earlier version began it', async () => {
    await interrupt({ ORDERS_API_KEY: await maskedKey() })
    const { isMasked: _, ...earlier } = JSON.parse(readFileSync(path(`${FILE}.part.json`), 'utf8'))
    writeFileSync(path(`${FILE}.part.json`), JSON.stringify(earlier))
    const { code, stderr } = await resume()
    expect(code, stderr).toBe(0)
  })
})

describe('an unfinished export', () => {
  beforeAll(() => interrupt())
  afterAll(clean)

  it('an unfinished export is neither replaced nor resumed without --resume', async () => {
    const orders = ordersInPart()
    const { code, stderr } = await runOrders(CSV, place())
    expect(code).toBe(1)
    expect(stderr).toContain('repita o comando com --resume')
    expect(stderr).toContain(`apague ou mova ${FILE}.part`)
    expect(ordersInPart()).toBe(orders)
  })

  it('an unfinished export is not resumed with other options', async () => {
    const orders = ordersInPart()
    const other = [...CSV, '--status', 'PAID', '--resume']
    const { code, stderr } = await runOrders(other, place())
    expect(code).toBe(1)
    expect(stderr).toContain('--status era nenhum, agora é PAID')
    expect(ordersInPart()).toBe(orders)
  })

  it('an unfinished export is kept when its cursor belongs to another account', async () => {
    const orders = ordersInPart()
    const { code, stderr } = await resume({ ORDERS_API_KEY: await service.createKey('acc_other') })
    expect(code).toBe(1)
    expect(stderr).toMatch(/não aceita mais o ponto .* repita o comando sem --resume/)
    expect(ordersInPart()).toBe(orders)
  })

  it('an unfinished export is not resumed with a key that masks personal data', async () => {
    const orders = ordersInPart()
    const { code, stderr } = await resume({ ORDERS_API_KEY: await maskedKey() })
    expect(code).toBe(1)
    expect(stderr).toContain('os pedidos dele foram lidos com dados pessoais, e ela os lê sem eles')
    expect(stderr).toContain(`Para continuar:\n  orders ${RESUME}\n`)
    expect(ordersInPart()).toBe(orders)
  })

  it('an unfinished export is not resumed when its part file is shorter than recorded', async () => {
    const { bytes } = JSON.parse(readFileSync(path(`${FILE}.part.json`), 'utf8'))
    writeFileSync(path(`${FILE}.part`), ';')
    const { code, stderr } = await resume()
    expect(code).toBe(1)
    const expected = bytes.toLocaleString('pt-BR')
    expect(stderr).toContain(`foi alterado: tem 1 byte, e deveria ter ${expected}. `)
  })
})

describe('an export to a file', () => {
  afterEach(clean)

  it('starts from the beginning when --resume finds nothing, and reports it', async () => {
    const { code, stderr } = await resume()
    expect(code).toBe(0)
    expect(stderr).toContain('começando do início')
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('excludes a second process from the same file', async () => {
    const child = await startHeld(spawnOrders)
    const second = await resume()
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(
      `Outro processo já exporta para ${FILE}. (É o processo ${child.pid}.)`,
    )
    child.kill('SIGKILL')
    await once(child, 'close')
    service.release()
    await expectResumed()
  })

  it('keeps the earlier file until the new one is complete', async () => {
    writeFileSync(path(FILE), 'ontem')
    await interrupt()
    expect(readFileSync(path(FILE), 'utf8')).toBe('ontem')
    await expectResumed()
  })

  it.each([
    ['replaces', 'ontem'],
    ['creates', null],
  ])('%s the file that a symbolic link names, and keeps the link', async (_, before) => {
    const target = path('alvo.csv')
    if (before !== null) writeFileSync(target, before)
    symlinkSync('alvo.csv', path(FILE))
    const { code, stderr } = await runOrders(CSV, place())
    expect(code, stderr).toBe(0)
    expect(lstatSync(path(FILE)).isSymbolicLink()).toBe(true)
    expect(readFileSync(target)).toEqual(whole)
    expect(readdirSync(service.folder).filter((name) => name.startsWith('alvo'))).toEqual([
      'alvo.csv',
    ])
    rmSync(target)
    clean()
  })

  it('waits until the lock of a restarted container expires, and says so', async () => {
    const lock = path(`${FILE}.lock-77-88-0badc0de`)
    writeFileSync(lock, '')
    const renewedAt = Date.now() / 1000 - 55
    utimesSync(lock, renewedAt, renewedAt)
    const { code, stderr } = await runOrders(CSV, place())
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/^esperando até [1-5] s: .*0badc0de é a trava/)
    expect(outputFiles()).toEqual([FILE])
    clean()
  })

  it('leaves nothing behind when it fails before its first page', async () => {
    const { code } = await runOrders(CSV, place({ ORDERS_API_KEY: 'key_live_none' }))
    expect(code).toBe(1)
    expect(outputFiles()).toEqual([])
  })

  it('continues after a short outage of the service', async () => {
    const run = await startHeld(beginOrders)
    service.reset(2)
    service.release()
    const { code, stderr } = await run.finished
    expect(code, stderr).toBe(0)
    expect(service.resets()).toBe(2)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })
})

describe('a full disk', () => {
  afterEach(clean)

  it('ends an export to a file, which can be resumed', async () => {
    const limited = await runShell(
      `ulimit -f 400; ${ordersInShell(`${CSV.slice(0, -1).join(' ')} '${FILE}'`)}`,
      place(),
    )
    expect(limited.code).toBe(1)
    expect(limited.stderr).toContain('tamanho máximo')
    expect(limited.stderr).toContain(` ${RESUME}\n`)
    expect(outputFiles()).toEqual([`${FILE}.part`, `${FILE}.part.json`])
    await expectResumed()
  })

  it('ends an export to stdout', async () => {
    const { code, stderr } = await runShell(
      `${ordersInShell('export --format csv')} > /dev/full`,
      place(),
    )
    expect(code).toBe(1)
    expect(stderr).toContain('O disco está cheio')
  })
})

it('a closed pipe ends an export without an error', async () => {
  const line = `${ordersInShell('export --format ndjson')} | head -n 1; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = await runShell(line, place())
  expect(stdout.trim().split('\n').at(-1)).toBe('0')
  expect(stderr).toBe('')
})
