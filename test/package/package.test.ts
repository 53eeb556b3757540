import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readSheet } from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cachedFolder } from '../support/cli/cached-folder.ts'
import { runProgram } from '../support/cli/program.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { temporaryFolder } from '../support/stores/backend.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'
import { SECRET, signDelivery } from '../support/webhooks/sending/signed-delivery.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The packages and their folders. */
const PACKAGES = {
  service: { name: 'public-orders-api', folder: '.' },
  client: { name: 'public-orders-client', folder: 'src/client' },
  cli: { name: 'public-orders-cli', folder: 'src/orders-cli' },
} as const
type Package = keyof typeof PACKAGES
const ORDERS = 10
const NEWEST = '2026-03-02T12:09:00.000Z'

const run = promisify(execFile)
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

let store: ServedStore | undefined
let baseUrl: string
let key: string
let runtimes: string
/** The folders into which each package is installed alone, as an integrator does. */
const installed = {} as Record<Package, string>
const { folder, remove } = temporaryFolder()

beforeAll(async () => {
  runtimes = await installRuntimes()
  const all = Object.keys(PACKAGES) as Package[]
  await Promise.all(all.map(async (one) => Object.assign(installed, { [one]: await install(one) })))
  for (const program of ['app.mjs', 'stalled.mjs']) {
    await copyFile(here(program), join(installed.client, program))
  }

  store = openServedStore()
  await store.load(
    Array.from({ length: ORDERS }, (_, at) =>
      sourceOrder({
        id: `ord_${at}`,
        status: at < 6 ? 'PAID' : 'UNPAID',
        changed_at: `2026-03-02T12:0${at}:00.000Z`,
      }),
    ),
  )
  key = await store.createKey('acc_1')
  baseUrl = (await store.serve()).baseUrl
})
afterAll(async () => {
  await store?.close()
  remove()
})

/** Builds and packs a package and installs the tarball into an empty folder. */
async function install(one: Package): Promise<string> {
  const place = join(folder, one)
  await mkdir(place)
  const source = join(ROOT, PACKAGES[one].folder)
  await run('npm', ['pack', '--pack-destination', folder], { cwd: source })
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  await writeFile(join(place, 'package.json'), '{"private":true,"type":"module"}')
  const tarball = join(folder, `${PACKAGES[one].name}-${version}.tgz`)
  // With the npm and the Node of an integrator on Node 20.
  const env = {
    ...process.env,
    PATH: `${join(runtimes, 'node_modules/.bin')}:${process.env['PATH']}`,
  }
  await run('npm', ['install', '--prefer-offline', '--no-audit', tarball], { cwd: place, env })
  return place
}

async function installRuntimes(): Promise<string> {
  const wanted = await readFile(here('runtimes/package.json'), 'utf8')
  return cachedFolder('runtimes', wanted, async (place) => {
    await writeFile(join(place, 'package.json'), wanted)
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: place })
  })
}

const runtime = (name: string) => join(runtimes, 'node_modules', '.bin', name)

/** Runs a command of an installed package on Node 20. */
const runBin = (one: Package, name: string, args: string[], env = {}) =>
  runProgram(runtime('node'), [join(installed[one], 'node_modules', '.bin', name), ...args], {
    cwd: installed[one],
    env,
  })

it.each([
  ['client', []],
  ['cli', ['hucre', 'leven']],
] as const)('the package of the %s installs the dependencies %j', async (one, dependencies) => {
  const names = await readdir(join(installed[one], 'node_modules'))
  const packages = names.filter((name) => !name.startsWith('.'))
  expect(new Set(packages)).toEqual(new Set([PACKAGES[one].name, ...dependencies]))
})

it.each(['client', 'cli', 'service'] as const)(
  'the package of the %s has the license, and a page that introduces it',
  async (one) => {
    const files = await readdir(join(installed[one], 'node_modules', PACKAGES[one].name))
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md']))
  },
)

describe('the installed client', () => {
  it.each([
    ['Node 20', 'node', []],
    ['Deno', 'deno', ['run', '--node-modules-dir=manual', '--allow-net', '--allow-env']],
    ['Bun', 'bun', ['run']],
  ])(
    'the installed client lists, gets, syncs and verifies a webhook on %s',
    async (_name, program, args) => {
      const event = { id: 'evt_1', type: 'order.paid', order_id: 'ord_1' }
      const delivery = { ...signDelivery(event.id, JSON.stringify(event)), secret: SECRET }
      const command = [...args, 'app.mjs', baseUrl, key, JSON.stringify(delivery)]
      const { stdout, stderr } = await runProgram(runtime(program), command, {
        cwd: installed.client,
      })
      expect(stderr).toBe('')
      expect(JSON.parse(stdout)).toEqual({
        ...{ listed: 6, received: ORDERS, watermark: NEWEST, id: 'ord_0' },
        ...{ isApiError: true, code: 'resource_missing' },
        ...{ event: 'order.paid', isVerificationError: true, reason: 'wrong_signature' },
      })
    },
  )

  // Optimized from the start, as code is that has run often: it keeps no unused variables alive.
  it('the installed client ends a stalled try after its time limit, also when garbage is collected', async () => {
    const command = ['--expose-gc', '--always-turbofan', 'stalled.mjs']
    const { stdout } = await runProgram(runtime('node'), command, { cwd: installed.client })
    expect(stdout).toBe('true\n')
  })

  it.each(['nodenext', 'bundler'])(
    'the client has types that need no types of Node (%s)',
    async (resolution) => {
      await copyFile(here('app.ts'), join(installed.client, 'app.ts'))
      const module = resolution === 'bundler' ? 'esnext' : resolution
      const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022']
      const libraries = ['--lib', 'es2023,dom', '--types', '']
      const resolving = ['--module', module, '--moduleResolution', resolution]
      const args = [...options, ...libraries, ...resolving, 'app.ts']
      const { code, stdout } = await runProgram(join(ROOT, 'node_modules/.bin/tsc'), args, {
        cwd: installed.client,
      })
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    },
  )
})

describe('the command orders', () => {
  it.each(['cli', 'service'] as const)(
    'the command orders of the package %s exports on Node 20',
    async (one) => {
      const args = ['export', '--url', baseUrl, '--format', 'ndjson']
      const { code, stdout } = await runBin(one, 'orders', args, { ORDERS_API_KEY: key })
      expect(code).toBe(0)
      expect(stdout.trim().split('\n')).toHaveLength(ORDERS)
    },
  )

  it('the command orders exports a spreadsheet on Node 20, which the package of the service refuses', async () => {
    const args = ['export', '--url', baseUrl, '--format', 'xlsx', '--out', 'pedidos.xlsx']
    const { code, stderr } = await runBin('cli', 'orders', args, { ORDERS_API_KEY: key })
    expect(code, stderr).toBe(0)
    expect(await readSheet(join(installed.cli, 'pedidos.xlsx'))).toHaveLength(ORDERS + 1)
    const refused = await runBin('service', 'orders', args, { ORDERS_API_KEY: key })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('public-orders-cli') })
  })

  it('the command orders reports the version of its package', async () => {
    const { version } = JSON.parse(
      await readFile(join(ROOT, 'src/orders-cli/package.json'), 'utf8'),
    )
    expect((await runBin('cli', 'orders', ['--version'])).stdout).toBe(`${version}\n`)
  })
})

describe('the package of the service', () => {
  it('the service package exports the client', async () => {
    const code = `import { createOrdersClient } from '${PACKAGES.service.name}/client'
      console.log(typeof createOrdersClient)`
    const args = ['--input-type=module', '-e', code]
    const { stdout } = await runProgram(runtime('node'), args, { cwd: installed.service })
    expect(stdout).toBe('function\n')
  })

  it('the service reports its required Node version on an older Node', async () => {
    const { code, stderr } = await runBin('service', PACKAGES.service.name, ['serve'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/Node 24/) })
  })
})
