import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SERVE = new URL('../../../src/cli/serve/serve.ts', import.meta.url)

it('the modules of serve do not load the fetch of Node', async () => {
  const program = `await import('${SERVE}'); console.log(process.moduleLoadList.join('\\n'))`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toMatch(/NativeModule http$/m)
  expect(stdout).not.toContain('internal/deps/undici/undici')
})
