import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recipe, runProgram } from '../support/cli/program.ts'
import { temporaryFolder } from '../support/stores/backend.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'
import { passing, refusals } from './refusals.ts'
import { CONTRACT_LIMITS, newestMs, openRecipeService, type RecipeService } from './service.ts'

let service: RecipeService
let elsewhere: Elsewhere
beforeAll(async () => {
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
  elsewhere = await startElsewhere()
})
afterAll(() => Promise.all([service.close(), elsewhere.close()]))

let place: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  place = temporaryFolder()
  service.front.forget()
  elsewhere.forget()
})
afterEach(() => place.remove())

const run = (program: string, args: readonly string[], key: string, url = service.baseUrl) =>
  runProgram('python3', [recipe(`python/${program}`), ...args], {
    cwd: place.folder,
    env: { ORDERS_API_URL: url, ORDERS_API_KEY: key },
  })
const sync = (args: readonly string[] = [], key = service.key) => run('pedidos.py', args, key)

const openCopy = (file = 'pedidos.db') => new DatabaseSync(join(place.folder, file))

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

const asked = () => service.front.asked.filter(({ status }) => status === 200)

describe('the recipe in Python', () => {
  it('copies every order at first, and waits where the limits of the account ask for it', async () => {
    service.emptyBucketAt(3)
    const { code, stdout } = await sync()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+ pedidos/) })
    expect(copied()).toEqual(await service.listed())
    expect(service.front.statuses()).toEqual([200, 200, 200, 429, 200, 200, 200, 200])
    expect(asked().filter(({ query }) => 'updated_gte' in query)).toEqual([])
  })

  it('brings what has changed, and next to nothing else, the next time', async () => {
    await sync()
    const newestOnceMs = newestMs(await service.listed())
    service.front.forget()
    const changed = await service.change()
    expect(await sync()).toMatchObject({ code: 0 })
    expect(copied()).toEqual(await service.listed())
    const [page, ...more] = asked()
    expect(more).toEqual([])
    expect(page?.query['sort']).toBe('updated_at_asc')
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestOnceMs - 60_000)
    expect(page?.ids).toEqual(expect.arrayContaining(changed))
    expect(page?.ids.length).toBeLessThan(changed.length + 10)
  })

  it('goes on where it was when it was stopped', async () => {
    service.front.answer(3, { status: 403 })
    expect((await sync()).code).toBe(1)
    const before = copied().size
    service.front.forget()
    expect((await sync()).code).toBe(0)
    expect(before).toBe(300)
    expect(asked()[0]?.query).toHaveProperty('cursor')
    expect(copied()).toEqual(await service.listed())
  })

  it('begins the listing again when its cursor is refused', async () => {
    service.front.answer(3, { status: 403 })
    await sync()
    {
      using copy = openCopy()
      copy.exec(`UPDATE estado SET json = json_set(json, '$.cursor', 'AQNraWQ')`)
    }
    service.front.forget()
    expect((await sync()).code).toBe(0)
    expect(service.front.statuses().slice(0, 2)).toEqual([400, 200])
    expect(copied()).toEqual(await service.listed())
  })

  it('keeps the later of two versions that one walk brings', async () => {
    service.front.before(2, async () => {
      await service.change(asked()[0]?.ids)
    })
    expect((await sync()).code).toBe(0)
    const ids = asked().flatMap((page) => page.ids)
    expect(ids.length).toBeGreaterThan(new Set(ids).size)
    expect(copied()).toEqual(await service.listed())
  })

  it('told to read all of it again, takes out what the account no longer has', async () => {
    await sync()
    const erased = await service.erase()
    await sync()
    expect(copied().has(erased)).toBe(true)
    expect((await sync(['--completa'])).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it('told to read all of it again, does not go on with a walk that was stopped', async () => {
    service.front.answer(3, { status: 403 })
    await sync()
    service.front.forget()
    expect((await sync(['--completa'])).code).toBe(0)
    expect(asked()[0]?.query).toEqual({ sort: 'updated_at_asc', limit: '100' })
    expect(copied()).toEqual(await service.listed())
  })

  it('waits as long as an edge asks it to that answers without a body', async () => {
    service.front.refuseFor(2, 3)
    expect((await sync()).code).toBe(0)
    expect(service.front.statuses()).toEqual([200, 200, 429, 200, 200, 200, 200, 200])
    expect(copied()).toEqual(await service.listed())
  })

  it.each(passing)('asks again after $title', async ({ happening }) => {
    service.front.answer(2, happening)
    expect((await sync()).code).toBe(0)
    expect(copied()).toEqual(await service.listed())
  })

  it.each(refusals)('stops at $title and says what to do', async ({ answer, key, says }) => {
    if (answer) service.front.answer(0, answer)
    const { code, stderr } = await sync([], key ?? service.key)
    expect(code).toBe(1)
    expect(stderr).toContain(says)
    expect(stderr).not.toContain(key ?? service.key)
  })
})

describe('the recipe in thirty lines of Python', () => {
  const COPY = 'pedidos_curto.db'
  const syncShortly = (key = service.key) => run('pedidos_curto.py', [], key)

  it('has no more of them', async () => {
    const lines = (await readFile(recipe('python/pedidos_curto.py'), 'utf8')).split('\n')
    expect(lines.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30)
  })

  it('copies every order, then what has changed, and waits where it is asked to', async () => {
    service.emptyBucketAt(3)
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
    expect(service.front.statuses()).toContain(429)
    const newestOnceMs = newestMs(await service.listed())
    service.front.forget()
    await service.change()
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
    const [page, ...more] = asked()
    expect(more).toEqual([])
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestOnceMs - 60_000)
  })

  it('keeps nothing of a walk that was cut, the undated orders at its end among it', async () => {
    service.front.answer(3, { status: 403 })
    expect((await syncShortly()).code).toBe(1)
    expect((await syncShortly()).code).toBe(0)
    expect(copied(COPY)).toEqual(await service.listed())
  })

  it('has a copy of its own beside that of the longer one', async () => {
    await sync()
    expect((await syncShortly()).code).toBe(0)
    expect((await sync()).code).toBe(0)
    expect(copied(COPY)).toEqual(copied())
  })

  it.each(refusals)('stops at $title and says what to do', async ({ answer, key, says }) => {
    if (answer) service.front.answer(0, answer)
    const { code, stderr } = await syncShortly(key)
    expect(code).toBe(1)
    expect(stderr).toContain(says)
  })
})

describe.each(['pedidos.py', 'pedidos_curto.py'])('%s', (program) => {
  it('takes an address with a slash and Windows line ends, and keeps the key to itself', async () => {
    const url = `${service.baseUrl}/\r`
    const { code, stderr } = await run(program, [], `${service.key}\r`, url)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(asked()[0]?.authorization).toBe(`Bearer ${service.key}`)
  })

  it('does not take the key along to where a redirect leads', async () => {
    service.front.answer(0, elsewhere.redirect)
    expect((await run(program, [], service.key)).code).toBe(1)
    expect(elsewhere.authorizations()).toEqual([undefined])
  })
})
