import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const PROGRAM = new URL('../../../src/cli/program.ts', import.meta.url)
const LOADED = `
  import { createRequire } from 'node:module'
  await import('${PROGRAM}')
  console.log(Object.keys(createRequire('${PROGRAM}').cache).join('\\n'))`

it('a command loads no server unless it starts one', async () => {
  const args = ['--input-type=module', '--eval', LOADED]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const packages = new Set([...stdout.matchAll(/node_modules\/([^/]+)/g)].map(([, name]) => name))
  expect(packages).toContain('pino')
  expect(['fastify', 'undici', 'prom-client'].filter((name) => packages.has(name))).toEqual([])
})
