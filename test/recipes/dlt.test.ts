import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installPython } from '../../scripts/python/packages.ts'
import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import type { Order } from '../../src/orders/order.ts'
import { recipe, runProgram } from '../support/cli/program.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { foreignKeys, permanentErrors } from './error-cases.ts'
import { CONTRACT_LIMITS, newestMs, openRecipeService, type RecipeService } from './service.ts'

const READ_DUCKDB = fileURLToPath(new URL('dlt/read-duckdb.py', import.meta.url))
const INSTALL_MS = 300_000

let service: RecipeService
let python: string
beforeAll(async () => {
  const requirements = recipe('dlt/requirements.txt')
  python = join(await installPython({ name: 'recipes/dlt', requirements }, console.error), 'python')
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
}, INSTALL_MS)
afterAll(() => service.close())

let folder: string
beforeEach(() => {
  folder = createTestFolder()
  service.faultServer.forget()
})

const load = (args: readonly string[] = [], key = service.key, url = service.baseUrl) =>
  runProgram(python, [recipe('dlt/pedidos_dlt.py'), ...args], {
    cwd: folder,
    env: { ORDERS_API_URL: url, ORDERS_API_KEY: key },
  })

/** The rows of both tables as orders. Null values are omitted, since they have no column yet. */
async function loaded(): Promise<Map<string, object>> {
  const args = [READ_DUCKDB, join(folder, 'pedidos.duckdb')]
  const { stdout, stderr } = await runProgram(python, args, { cwd: folder })
  if (stdout === '') throw new Error(stderr)
  const rows = JSON.parse(stdout) as { id: string }[]
  const byId = new Map(rows.map((row) => [row.id, row]))
  expect(byId.size).toBe(rows.length)
  return byId
}

async function listed(): Promise<Map<string, object>> {
  const orders = await service.listed()
  return new Map([...orders].map(([id, order]) => [id, rowOf(order)]))
}

const rowOf = ({ items, tracking, metadata, ...order }: Order) => ({
  ...Object.fromEntries(leavesOf('', order)),
  ...(tracking && { tracking: Object.fromEntries(leavesOf('', tracking)) }),
  metadata,
  items: items.map((item) => Object.fromEntries(leavesOf('', item))),
})

function leavesOf(path: string, value: unknown): [string, unknown][] {
  if (value === null) return []
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object') return [[path, value]]
  return Object.entries(value as object).flatMap(([name, inner]) =>
    leavesOf(path === '' ? name : `${path}__${name}`, inner),
  )
}

/** The paths of the files of dlt that contain a text, also compressed. */
async function stateFilesWith(text: string): Promise<string[]> {
  const state = join(folder, 'pedidos.estado')
  const entries = await readdir(state, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((file) => join(file.parentPath, file.name))
  const bytes = await Promise.all(paths.map((path) => readFile(path)))
  return paths.filter((path, at) => {
    const content = bytes[at] ?? Buffer.alloc(0)
    return (path.endsWith('.gz') ? gunzipSync(content) : content).includes(text)
  })
}

/** Opens the DuckDB file for writing, as another program does. */
async function lockDatabase() {
  const script = 'import duckdb, sys; lock = duckdb.connect(sys.argv[1]); print(); sys.stdin.read()'
  const child = spawn(python, ['-c', script, join(folder, 'pedidos.duckdb')])
  await once(child.stdout, 'data')
  return {
    async release() {
      child.stdin.end()
      await once(child, 'close')
    },
  }
}

const pageRequests = () => service.faultServer.requests.filter(({ status }) => status === 200)

describe('the recipe with dlt', () => {
  it('the dlt recipe loads every order in the first run, undated ones included', async () => {
    expect(await load()).toMatchObject({ code: 0 })
    expect(await loaded()).toEqual(await listed())
    const [first] = pageRequests()
    expect(first?.query).toEqual({
      ...{ sort: 'updated_at_asc', limit: '100', include_undated: 'true' },
    })
    expect(first?.authorization).toBe(`Bearer ${service.key}`)
  })

  it('the dlt recipe loads mostly changed orders in the next run', async () => {
    await load()
    const before = await service.listed()
    service.faultServer.forget()
    const changed = await service.change()
    expect(await load()).toMatchObject({ code: 0 })
    expect(await loaded()).toEqual(await listed())

    const [page, ...more] = pageRequests()
    expect(more).toEqual([])
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestMs(before) - 60_000)
    expect(page?.ids).toEqual(expect.arrayContaining(changed))
    const undated = [...before.values()].filter((order) => order.updated_at === null).length
    expect(page?.ids.length).toBeLessThan(changed.length + undated + 10)
  })

  it('the recipe keeps the later of two versions from one run', async () => {
    service.faultServer.before(2, async () => {
      await service.change(pageRequests()[0]?.ids)
    })
    expect(await load()).toMatchObject({ code: 0 })
    const ids = pageRequests().flatMap((page) => page.ids)
    expect(ids.length).toBeGreaterThan(new Set(ids).size)
    expect(await loaded()).toEqual(await listed())
  })

  it('the dlt recipe loads an order with texts and a name that were cut within an emoji', async () => {
    await service.change(undefined, { tracking: { src: 'bio \ufffd', 'sck \ufffd': '\ufffd 🎸' } })
    service.faultServer.halveEmoji()
    expect(await load()).toMatchObject({ code: 0 })
    expect(await loaded()).toEqual(await listed())
  })

  it('a full reload of the dlt recipe removes orders that the account lost', async () => {
    await load()
    await service.erase()
    expect(await load(['--completa'])).toMatchObject({ code: 0 })
    expect(await loaded()).toEqual(await listed())
  })

  it('the dlt recipe keeps orders in the database only', async () => {
    await load()
    await load(['--completa'])
    const [order] = (await service.listed()).values()
    expect(await stateFilesWith(DEMO_ACCOUNT)).not.toEqual([])
    expect(await stateFilesWith(order?.customer.email ?? '')).toEqual([])
  })

  it('the files of the dlt recipe are readable by its user only', async () => {
    await load()
    const modes = ['pedidos.duckdb', 'pedidos.estado'].map(async (name) => {
      const { mode } = await stat(join(folder, name))
      return (mode & 0o777).toString(8)
    })
    expect(await Promise.all(modes)).toEqual(['600', '700'])
  })

  it('a full reload of the dlt recipe first finishes a load that failed, then reads everything', async () => {
    await load()
    await service.change()
    service.faultServer.forget()
    let lock: Awaited<ReturnType<typeof lockDatabase>> | undefined
    service.faultServer.before(1, async () => {
      lock = await lockDatabase()
      return undefined
    })
    const { code, stderr } = await load(['--completa'])
    await lock?.release()
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/Feche.*pedidos\.duckdb.*\n$/),
    })
    service.faultServer.forget()
    await service.erase()
    expect(await load(['--completa'])).toMatchObject({ code: 0 })
    expect(pageRequests()).not.toEqual([])
    expect(await loaded()).toEqual(await listed())
  })

  it('the dlt recipe loads a text that looks like an instant as a text', async () => {
    const looksLikeInstant = '2026-03-01T10:00'
    // Of the first page, which decides the type of a column.
    service.faultServer.answerFirstPage((response) => ({
      ...response,
      body: (response.body ?? '').replace(/("utm_content":)"[^"]*"/g, `$1"${looksLikeInstant}"`),
    }))
    expect(await load()).toMatchObject({ code: 0 })
    const texts = [...(await loaded()).values()].map((row) => Object(row).utm__utm_content)
    expect(texts).toContain(looksLikeInstant)
  })

  it.each(foreignKeys)('the dlt recipe does not continue a copy with $title', async ({ keyOf }) => {
    await load()
    const before = await loaded()
    const { code, stderr } = await load([], await keyOf(service))
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cópia nova') })
    expect(await loaded()).toEqual(before)
  })

  it('the dlt recipe keeps the account of a first load that failed', async () => {
    let lock: Awaited<ReturnType<typeof lockDatabase>> | undefined
    service.faultServer.before(1, async () => {
      lock = await lockDatabase()
      return undefined
    })
    expect((await load()).code).toBe(1)
    await lock?.release()
    expect((await load()).code).toBe(0)
    const { stderr } = await load([], await service.createKey('acc_other'))
    expect(stderr).toContain('cópia nova')
  })

  it('the dlt recipe does not keep the account of a first read that failed', async () => {
    service.faultServer.answerFirstPage({ status: 403 })
    expect((await load()).code).toBe(1)
    const { stderr } = await load([], await service.createKey('acc_other'))
    expect(stderr).not.toContain('cópia nova')
  })

  it('the dlt recipe continues its copy with another key of the account', async () => {
    await load()
    service.faultServer.forget()
    expect(await load([], await service.createKey(DEMO_ACCOUNT))).toMatchObject({ code: 0 })
    expect(pageRequests()[0]?.query).toHaveProperty('updated_gte')
  })

  it('the recipe waits for the Retry-After of an edge response without a body', async () => {
    const rejections = service.faultServer.rejectFor(2, 3)
    expect(await load()).toMatchObject({ code: 0 })
    expect(rejections()).toBe(1)
    expect(await loaded()).toEqual(await listed())
  })

  it('the dlt recipe retries after a 502 of an edge and after a 429', async () => {
    service.faultServer.answer(2, { status: 502 })
    service.emptyBucketAt(4)
    expect(await load()).toMatchObject({ code: 0 })
    expect(service.faultServer.statuses()).toEqual([200, 200, 502, 200, 200, 429, 200, 200, 200])
    expect(await loaded()).toEqual(await listed())
  })

  it('the dlt recipe accepts an address and a key with Windows line ends', async () => {
    const { code, stderr } = await load([], `${service.key}\r`, `${service.baseUrl}/\r`)
    expect(code).toBe(0)
    expect(stderr).not.toContain(service.key)
    expect(pageRequests()[0]?.authorization).toBe(`Bearer ${service.key}`)
  })

  it.each(permanentErrors)(
    'the recipe stops at $title and names the next step',
    async ({ answer, key, message }) => {
      if (answer) service.faultServer.answer(0, answer)
      const { code, stderr } = await load([], key ?? service.key)
      expect(code).toBe(1)
      expect(stderr.trim().split('\n').at(-1)).toContain(message)
      expect(stderr).not.toContain(key ?? service.key)
    },
  )
})
