import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runProgram } from '../support/cli/program.ts'
import { startFaultServer } from '../support/http/fault-server.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'

let elsewhere: Elsewhere
let server: Awaited<ReturnType<typeof startFaultServer>>
beforeAll(async () => {
  elsewhere = await startElsewhere()
  server = await startFaultServer('http://127.0.0.1', () => elsewhere.redirect)
})
afterAll(() => Promise.all([server.close(), elsewhere.close()]))
beforeEach(() => elsewhere.forget())

const sample = (name: string) =>
  fileURLToPath(new URL(`../../openapi/samples/${name}`, import.meta.url))

// Of the samples without a compiler, the HTTP clients of these follow redirects.
it.each([
  ['python3', 'orders_list/python.py'],
  ['python3', 'orders_get/python.py'],
  [process.execPath, 'orders_list/javascript.mjs'],
  [process.execPath, 'orders_get/javascript.mjs'],
])('the sample $1 sends no key to a redirect target', async (command, name) => {
  const env = { ORDERS_API_URL: server.baseUrl, ORDERS_API_KEY: 'key_of_the_account' }
  const cwd = createTestFolder()
  const { code } = await runProgram(command, [sample(name), 'ord_1'], { cwd, env })
  expect(code).toBe(1)
  expect(elsewhere.authorizations()).toEqual([undefined])
})
