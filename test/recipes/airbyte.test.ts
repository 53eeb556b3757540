import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installPython } from '../../scripts/python/packages.ts'
import { recipe, runProgram } from '../support/cli/program.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { transientErrors } from './error-cases.ts'
import { CONTRACT_LIMITS, newestMs, openRecipeService, type RecipeService } from './service.ts'

const INSTALL_MS = 300_000
/** Of an edge or a proxy in between. */
const HTML_PAGE = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' }
const CATALOG = {
  streams: [
    {
      stream: {
        name: 'pedidos',
        json_schema: {},
        supported_sync_modes: ['full_refresh', 'incremental'],
      },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    },
  ],
}

let service: RecipeService
let source: string
beforeAll(async () => {
  const requirements = recipe('airbyte/requirements.txt')
  const packages = { name: 'recipes/airbyte', requirements }
  source = join(await installPython(packages, console.error), 'source-declarative-manifest')
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
}, INSTALL_MS)
afterAll(() => service.close())

let folder: string
beforeEach(() => {
  folder = createTestFolder()
  service.faultServer.forget()
})

interface Message {
  type: string
  record?: { data: { id: string } & Record<string, unknown> }
  state?: object
}

/** Reads the source from a state, as the platform does. */
async function read(state: readonly object[] = [], key = service.key) {
  const files = {
    config: { api_url: `${service.baseUrl}/`, api_key: `${key}\n` },
    catalog: CATALOG,
    state,
  }
  const options = Object.entries(files).flatMap(([name, content]) => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify(content))
    return [`--${name}`, path]
  })
  const manifest = ['--manifest-path', recipe('airbyte/pedidos.yaml')]
  const { code, stdout } = await runProgram(source, ['read', ...manifest, ...options], {
    cwd: folder,
  })
  const messages = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Message)
  const records = messages.flatMap(({ record }) => (record === undefined ? [] : [record.data]))
  const states = messages.flatMap((message) => message.state ?? [])
  return { code, stdout, records, state: states.slice(-1) }
}

/** Airbyte omits null members of an object, and so does a comparison. */
const withoutNulls = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_name, member) => (member === null ? undefined : member)))

async function listed(): Promise<Map<string, unknown>> {
  const orders = await service.listed()
  return new Map([...orders].map(([id, order]) => [id, withoutNulls(order)]))
}

const byId = (records: readonly { id: string }[]) =>
  new Map(records.map((record) => [record.id, withoutNulls(record)]))

describe('the recipe with Airbyte', () => {
  it('the Airbyte source reads every order in the first run, undated ones included', async () => {
    const { code, records } = await read()
    expect(code).toBe(0)
    expect(byId(records)).toEqual(await listed())
    expect(service.faultServer.requests[0]?.query).toMatchObject({
      include_undated: 'true',
      updated_gte: '2000-01-01T00:00:00.000000Z',
    })
  })

  it('the Airbyte source reads what changed, and undated orders, in the next run', async () => {
    const first = await read()
    const before = await service.listed()
    service.faultServer.forget()
    const changed = await service.change()
    const { records } = await read(first.state)
    const copy = new Map([...byId(first.records), ...byId(records)])
    expect(copy).toEqual(await listed())
    const undated = [...before.values()].filter((order) => order.updated_at === null).length
    expect(records.length).toBeLessThan(changed.length + undated + 10)
    const [page] = service.faultServer.requests
    expect(Date.parse(page?.query['updated_gte'] ?? '')).toBe(newestMs(before) - 60_000)
  })

  it('the Airbyte source waits for the Retry-After of an edge response without a body', async () => {
    service.faultServer.rejectFor(2, 3)
    const { code, records } = await read()
    expect(code).toBe(0)
    expect(byId(records)).toEqual(await listed())
  })

  it.each([...transientErrors, { title: 'an HTML page', fault: HTML_PAGE }])(
    'the Airbyte source retries after $title',
    async ({ fault }) => {
      service.faultServer.answer(2, fault)
      const { code, records } = await read()
      expect(code).toBe(0)
      expect(byId(records)).toEqual(await listed())
    },
  )

  it('the Airbyte source stops at a wrong key with the message of the API, and never shows it', async () => {
    const wrong = `${service.key.slice(0, -4)}AAAA`
    const { code, stdout } = await read([], wrong)
    expect(code).not.toBe(0)
    expect(stdout).toContain('Chave de API ausente ou inválida')
    expect(stdout).not.toContain(wrong)
  })

  it.each([405, 414, 431, 451])('the Airbyte source stops at a %i', async (status) => {
    service.faultServer.answer(2, { status, body: '{}' })
    const { code } = await read()
    expect(code).not.toBe(0)
    expect(service.faultServer.statuses().filter((answered) => answered === status)).toHaveLength(1)
  })

  it('the manifest names no key and no address', () => {
    const text = readFileSync(recipe('airbyte/pedidos.yaml'), 'utf8')
    expect(text).not.toMatch(/key_(live|test)_|localhost|127\.0\.0\.1/)
  })
})
