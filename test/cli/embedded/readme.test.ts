import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveInProcess } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'
import { openServedStore, type ServedStore } from '../../support/stores/served-store.ts'

const run = promisify(execFile)
const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const readme = readFileSync(root('README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  )

const { folder, remove } = temporaryFolder()
let store: ServedStore
/** What `npm start` prints as `export` lines. */
let env: Record<string, string>
beforeAll(async () => {
  store = openServedStore()
  await store.load([
    sourceOrder({ id: 'ord_paid' }),
    sourceOrder({ id: 'ord_2', status: 'UNPAID' }),
  ])
  const key = await store.createKey('acc_1')
  const { baseUrl } = await store.serve()
  env = { PATH: process.env['PATH'] ?? '', ORDERS_API_URL: baseUrl, ORDERS_API_KEY: key }
})
afterAll(async () => {
  await store.close()
  remove()
})

describe('the README', () => {
  it('has at most 120 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })

  it('the first call of the README returns a list with the fields that it shows', async () => {
    const call = blocks('sh').find((text) => text.startsWith('curl ')) ?? ''
    const { stdout } = await run('bash', ['-c', call], { env })
    const list = JSON.parse(stdout)
    const [shown = ''] = blocks('jsonc')
    for (const [, field = ''] of shown.matchAll(/"(\w+)":/g)) {
      expect(stdout).toContain(`"${field}":`)
    }
    expect(list).toMatchObject({ object: 'list', data: [{ object: 'order' }], has_more: true })
  })

  it('the order that the README shows is the one that the demo returns', async () => {
    const demo = temporaryFolder()
    const service = await serveInProcess(['--demo'], {
      DATA_DIR: demo.folder,
      MANAGEMENT_PORT: '0',
      CONSOLE_PORT: '0',
    })
    const { stdout } = service.output()
    const [, key = ''] = /export ORDERS_API_KEY=(\S+)/.exec(stdout) ?? []
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${service.baseUrl}/v1/orders?limit=1`, { headers })
    const [jsonc = ''] = blocks('jsonc')
    const json = jsonc.replace(/\/\/.*|\/\*.*?\*\//g, '').replace(/,(?=\s*})/g, '')
    const { updated_at: _, ...shown } = JSON.parse(json).data[0]
    const returned = await response.json()
    await service.stop()
    demo.remove()
    expect(returned).toMatchObject({ data: [shown] })
  })

  describe('the TypeScript sample of the README', () => {
    const file = join(folder, 'sample.ts')
    beforeAll(() => {
      const [sample = ''] = blocks('ts')
      const client = root('src/client/client.ts')
      writeFileSync(file, sample.replace("'public-orders-client'", JSON.stringify(client)))
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    })

    it('the sample of the README compiles', async () => {
      const config = join(folder, 'tsconfig.json')
      const compilerOptions = {
        noEmit: true,
        typeRoots: [root('node_modules/@types')],
        noPropertyAccessFromIndexSignature: false, // A rule of this project, not of integrators.
        rewriteRelativeImportExtensions: false,
      }
      const extended = { extends: root('tsconfig.json'), compilerOptions, include: [file] }
      writeFileSync(config, JSON.stringify(extended))
      const compiled = run(process.execPath, [
        root('node_modules/typescript/bin/tsc'),
        '-p',
        config,
      ])
      expect((await compiled.catch(({ stdout }) => ({ stdout }))).stdout).toBe('')
    })

    it('the sample of the README lists, resumes, reports an error and syncs', async () => {
      const { stdout, stderr } = await run(process.execPath, [file], { env })
      expect(stdout).toBe('ord_paid 9900\nresume at null\n')
      expect(stderr).toMatch(/^resource_missing req_\w+\n$/)
    })
  })
})
