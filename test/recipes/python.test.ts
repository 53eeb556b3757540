import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import { recipe, runProgram } from '../support/cli/program.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'
import {
  foreignKeys,
  permanentErrors,
  REJECTED_CURSOR,
  restart,
  transientErrors,
} from './error-cases.ts'
import { CONTRACT_LIMITS, newestMs, openRecipeService, type RecipeService } from './service.ts'

let service: RecipeService
let elsewhere: Elsewhere
beforeAll(async () => {
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
  elsewhere = await startElsewhere()
})
afterAll(() => Promise.all([service.close(), elsewhere.close()]))

let folder: string
beforeEach(() => {
  folder = createTestFolder()
  service.faultServer.forget()
  elsewhere.forget()
})

const run = (program: string, args: readonly string[], key: string, url = service.baseUrl) =>
  runProgram('python3', [recipe(`python/${program}`), ...args], {
    cwd: folder,
    env: { ORDERS_API_URL: url, ORDERS_API_KEY: key, PYTHONPATH: folder },
  })
const sync = (args: readonly string[] = [], key = service.key) => run('pedidos.py', args, key)

const openCopy = (file = 'pedidos.db') => new DatabaseSync(join(folder, file))

function copied(file = 'pedidos.db') {
  using copy = openCopy(file)
  const rows = copy.prepare('SELECT id, updated_at, pedido FROM pedidos').all()
  for (const row of rows) {
    expect(JSON.parse(String(row['pedido']))).toMatchObject({
      id: row['id'],
      updated_at: row['updated_at'],
    })
  }
  return new Map(rows.map(({ id, pedido }) => [id, JSON.parse(String(pedido))]))
}

const pageRequests = () => service.faultServer.requests.filter(({ status }) => status === 200)

describe('the recipe in Python', () => {
  it('the Python recipe copies every order in the first run and waits after a 429', async () => {
    service.emptyBucketAt(3)
    const { code, stdout } = await sync()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+ pedidos/) })
    expect(copied()).toEqual(await service.listed())
    expect(service.faultServer.statuses()).toEqual([200, 200, 200, 429, 200, 200, 200, 200])
    expect(pageRequests().filter(({ query }) => 'updated_gte' in query)).toEqual([])
  })

  it('the Python recipe reads mostly changed orders in the next run', async () => {
    await sync()
    const newestOnceMs = newestMs(await service.listed())
    service.faultServer.forget()
    const changed = await service.change()
    expect(await sync()).toMatchObject({ code: 0 })
    expect(copied()).toEqual(await service.listed())
    const [page, ...more] = pageRequests()
    expect(more).toEqual([])
    expect(page?.query['sort']).toBe('updated_at_asc')
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestOnceMs - 60_000)
    expect(page?.ids).toEqual(expect.arrayContaining(changed))
    expect(page?.ids.length).toBeLessThan(changed.length + 10)
  })

  it('the Python recipe resumes an interrupted run', async () => {
    service.faultServer.answer(3, { status: 403 })
    expect((await sync()).code).toBe(1)
    const before = copied().size
    service.faultServer.forget()
    expect((await sync()).code).toBe(0)
    expect(before).toBe(300)
    expect(pageRequests()[0]?.query).toHaveProperty('cursor')
    expect(copied()).toEqual(await service.listed())
  })

  it('the recipe restarts the listing when its cursor is rejected', async () => {
    service.faultServer.answer(3, { status: 403 })
    await sync()
    {
      using copy = openCopy()
      copy.exec(`UPDATE estado SET json = json_set(json, '$.cursor', 'AQNraWQ')`)
    }
    service.faultServer.forget()
    expect((await sync()).code).toBe(0)
    // Earlier tests may have emptied the bucket of the account.
    const statuses = service.faultServer.statuses().filter((status) => status !== 429)
    expect(statuses.slice(0, 2)).toEqual([400, 200])
    expect(copied()).toEqual(await service.listed())
  })

  it('the Python recipe stops when the API rejects its cursor after three restarts', async () => {
    service.faultServer.breakCursors()
    const { code, stderr } = await sync()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(REJECTED_CURSOR) })
    expect(service.faultServer.statuses().filter((status) => status === 400)).toHaveLength(4)
    service.faultServer.forget()
    expect((await sync()).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it('the recipe keeps the later of two versions from one run', async () => {
    service.faultServer.before(2, async () => {
      await service.change(pageRequests()[0]?.ids)
    })
    expect((await sync()).code).toBe(0)
    const ids = pageRequests().flatMap((page) => page.ids)
    expect(ids.length).toBeGreaterThan(new Set(ids).size)
    expect(copied()).toEqual(await service.listed())
  })

  it('a full reload of the Python recipe removes orders that the account lost', async () => {
    await sync()
    const erased = await service.erase()
    await sync()
    expect(copied().has(erased)).toBe(true)
    expect((await sync(['--completa'])).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it('a full reload that misses most orders removes none of them, unless it is allowed', async () => {
    await sync()
    const before = copied()
    const emptyList = JSON.stringify({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    })
    const reloadEmpty = async (...options: string[]) => {
      service.faultServer.forget()
      service.faultServer.answerFirstPage({ status: 200, body: emptyList })
      return await sync(['--completa', ...options])
    }
    const { code, stderr } = await reloadEmpty()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('mais da metade') })
    expect(copied()).toEqual(before)
    expect((await sync()).code).toBe(0)
    expect(copied()).toEqual(before)
    expect((await reloadEmpty('--permitir-remocao')).code).toBe(0)
    expect(copied().size).toBe(0)
  })

  it('a full reload of the Python recipe does not resume an interrupted run', async () => {
    service.faultServer.answer(3, { status: 403 })
    await sync()
    service.faultServer.forget()
    expect((await sync(['--completa'])).code).toBe(0)
    expect(pageRequests()[0]?.query).toEqual({ sort: 'updated_at_asc', limit: '100' })
    expect(copied()).toEqual(await service.listed())
  })

  it('a full reload of the Python recipe forgets an updated_at in the future', async () => {
    await sync()
    {
      using copy = openCopy()
      copy.exec(`UPDATE estado SET json = json_set(json, '$.maior', '2999-01-01T00:00:00.000Z')`)
    }
    expect((await sync(['--completa'])).code).toBe(0)
    await service.change()
    expect((await sync()).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it('the recipe waits for the Retry-After of an edge response without a body', async () => {
    const rejections = service.faultServer.rejectFor(2, 3)
    expect((await sync()).code).toBe(0)
    expect(rejections()).toBe(1)
    expect(copied()).toEqual(await service.listed())
  })

  it('the Python recipe ends after its last try, which it does not announce', async () => {
    // Python imports this file at its start, by PYTHONPATH. The waits together take a minute.
    await writeFile(join(folder, 'sitecustomize.py'), 'import time\ntime.sleep = lambda _: None')
    const answers = Array.from({ length: 20 }, () => restart.answer)
    service.faultServer.answer(0, ...answers)
    const { code, stderr } = await sync()
    const lines = stderr.trim().split('\n')
    const waits = lines.map((line) => /nova tentativa em (\d+) s$/.exec(line)?.[1])
    expect(waits).toEqual(['1', '2', '4', '8', '16', '32', undefined])
    expect({ code, stderr: lines.at(-1) }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/não respondeu.*503.*Confira ORDERS_API_URL/),
    })
  })

  it.each(transientErrors)('the recipe retries after $title', async ({ fault }) => {
    service.faultServer.answer(2, fault)
    expect((await sync()).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it.each(permanentErrors)(
    'the recipe stops at $title and names the next step',
    async ({ answer, key, message }) => {
      if (answer) service.faultServer.answer(0, answer)
      const { code, stderr } = await sync([], key ?? service.key)
      expect(code).toBe(1)
      expect(stderr).toContain(message)
      expect(stderr).not.toContain(key ?? service.key)
    },
  )
})

describe('the recipe in thirty-five lines of Python', () => {
  const COPY = 'pedidos_curto.db'
  const syncShortly = (key = service.key) => run('pedidos_curto.py', [], key)

  it('the short Python recipe has at most thirty-five lines', async () => {
    const lines = (await readFile(recipe('python/pedidos_curto.py'), 'utf8')).split('\n')
    expect(lines.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(35)
  })

  it('the short Python recipe copies every order, then the changes, and waits after a 429', async () => {
    service.emptyBucketAt(3)
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
    expect(service.faultServer.statuses()).toContain(429)
    const newestOnceMs = newestMs(await service.listed())
    service.faultServer.forget()
    await service.change()
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
    const [page, ...more] = pageRequests()
    expect(more).toEqual([])
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestOnceMs - 60_000)
  })

  it('the short Python recipe discards an interrupted run, undated orders included', async () => {
    service.faultServer.answer(3, { status: 403 })
    expect((await syncShortly()).code).toBe(1)
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
  })

  it('the short Python recipe does not keep the account of a first run that failed', async () => {
    service.faultServer.answer(1, { status: 403 })
    expect((await syncShortly()).code).toBe(1)
    expect((await syncShortly(await service.createKey('acc_other'))).code).toBe(0)
    expect(copied(COPY).size).toBe(0)
  })

  it('the short Python recipe prints a wait, also after a Retry-After that is a date', async () => {
    const headers = { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }
    service.faultServer.answer(2, { status: 503, headers })
    const { code, stderr } = await syncShortly()
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/503.* 1 s\n$/) })
    expect(copied(COPY)).toEqual(await service.listed())
  })

  it('the short Python recipe stores its copy separately from the longer one', async () => {
    await sync()
    expect((await syncShortly()).code).toBe(0)
    expect((await sync()).code).toBe(0)
    expect(copied(COPY)).toEqual(copied())
  })

  it.each(permanentErrors)(
    'the recipe stops at $title and names the next step',
    async ({ answer, key, message }) => {
      if (answer) service.faultServer.answer(0, answer)
      const { code, stderr } = await syncShortly(key)
      expect(code).toBe(1)
      expect(stderr).toContain(message)
    },
  )
})

describe.each(['pedidos.py', 'pedidos_curto.py'])('%s', (program) => {
  it('the copy of the recipe is readable by its user only', async () => {
    await run(program, [], service.key)
    const { mode } = await stat(join(folder, program.replace('.py', '.db')))
    expect((mode & 0o777).toString(8)).toBe('600')
  })

  it.each(foreignKeys)('the recipe does not continue a copy with $title', async ({ keyOf }) => {
    await run(program, [], service.key)
    const before = copied(program.replace('.py', '.db'))
    const { code, stderr } = await run(program, [], await keyOf(service))
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cópia nova') })
    expect(copied(program.replace('.py', '.db'))).toEqual(before)
  })

  it('the recipe continues its copy with another key of the account', async () => {
    await run(program, [], service.key)
    service.faultServer.forget()
    const key = await service.createKey(DEMO_ACCOUNT)
    expect((await run(program, [], key)).code).toBe(0)
    expect(pageRequests()[0]?.query).toHaveProperty('updated_gte')
  })

  it('the recipe waits longer than Retry-After for a service that starts again', async () => {
    const rejections = service.faultServer.rejectFor(2, restart.seconds, restart.answer)
    expect((await run(program, [], service.key)).code).toBe(0)
    expect(rejections()).toBeGreaterThan(0)
    expect(rejections()).toBeLessThanOrEqual(restart.maxRejections)
    expect(copied(program.replace('.py', '.db'))).toEqual(await service.listed())
  })

  it('the recipe accepts an address with a slash and Windows line ends and does not leak the key', async () => {
    const url = `${service.baseUrl}/\r`
    const { code, stderr } = await run(program, [], `${service.key}\r`, url)
    // A wait for the limit, which the tests share, is printed.
    expect(code).toBe(0)
    expect(stderr).not.toContain(service.key)
    expect(pageRequests()[0]?.authorization).toBe(`Bearer ${service.key}`)
  })

  it('the recipe does not send the key to a redirect target', async () => {
    service.faultServer.answer(0, elsewhere.redirect)
    expect((await run(program, [], service.key)).code).toBe(1)
    expect(elsewhere.authorizations()).toEqual([undefined])
  })
})
