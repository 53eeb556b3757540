import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cachedFolder } from '../support/cli/cached-folder.ts'
import { runProgram } from '../support/cli/program.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { temporaryFolder } from '../support/stores/backend.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NAME = 'public-orders-api'
const ORDERS = 10
const NEWEST = '2026-03-02T12:09:00.000Z'

const run = promisify(execFile)
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

let store: ServedStore | undefined
let baseUrl: string
let key: string
let runtimes: string
/** Where the packed package is installed, as an integrator does it. */
let installed: string
/** Where nothing but the package itself is. */
let alone: string
const { folder, remove } = temporaryFolder()

beforeAll(async () => {
  runtimes = await installRuntimes()
  installed = await install()
  alone = join(folder, 'alone')
  await cp(join(installed, 'node_modules', NAME), join(alone, 'node_modules', NAME), {
    recursive: true,
  })
  for (const place of [installed, alone]) await copyFile(here('app.mjs'), join(place, 'app.mjs'))

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
}, 300_000)
afterAll(async () => {
  await store?.close()
  remove()
})

/** Packs the project and installs it into an empty folder. */
async function install(): Promise<string> {
  const place = join(folder, 'installed')
  await mkdir(place)
  await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT }) // Which builds it.
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  await writeFile(join(place, 'package.json'), '{"private":true,"type":"module"}')
  const tarball = join(folder, `${NAME}-${version}.tgz`)
  // By the npm and the Node of whoever has no newer one.
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

describe('the client of the installed package', () => {
  it.each([
    ['Node 20', 'node', []],
    ['Deno', 'deno', ['run', '--node-modules-dir=manual', '--allow-net', '--allow-env']],
    ['Bun', 'bun', ['run']],
  ])('lists, gets and syncs on %s, with nothing else installed', async (_name, program, args) => {
    const command = [...args, 'app.mjs', baseUrl, key]
    const { stdout, stderr } = await runProgram(runtime(program), command, { cwd: alone })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      ...{ listed: 6, received: ORDERS, watermark: NEWEST, id: 'ord_0' },
      ...{ isApiError: true, code: 'resource_missing' },
    })
  })

  it.each(['nodenext', 'bundler'])(
    'is typed, without the types of Node (%s)',
    async (resolution) => {
      await copyFile(here('app.ts'), join(installed, 'app.ts'))
      const module = resolution === 'bundler' ? 'esnext' : resolution
      const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022']
      const libraries = ['--lib', 'es2023,dom', '--types', '']
      const resolving = ['--module', module, '--moduleResolution', resolution]
      const args = [...options, ...libraries, ...resolving, 'app.ts']
      const { code, stdout } = await runProgram(join(ROOT, 'node_modules/.bin/tsc'), args, {
        cwd: installed,
      })
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    },
  )
})

describe('the commands of the installed package', () => {
  const runCommand = (name: string, args: string[], env = {}) =>
    runProgram(runtime('node'), [join(installed, 'node_modules', '.bin', name), ...args], {
      cwd: installed,
      env,
    })

  it('orders exports on Node 20', async () => {
    const args = ['export', '--url', baseUrl, '--format', 'ndjson']
    const { code, stdout } = await runCommand('orders', args, { ORDERS_API_KEY: key })
    expect(code).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(ORDERS)
  })

  it('the service says which Node it takes, on one that is older', async () => {
    const { code, stderr } = await runCommand(NAME, ['serve'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/Node 24/) })
  })
})
