import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand, serveInProcess } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

let backend: Backend
let env: Record<string, string>
beforeAll(() => {
  backend = createBackend()
  const { WEBHOOK_SECRETS: _omitted, ...rest } = backend.env
  env = rest
})
afterAll(() => backend.remove())

it('webhooks deliver without WEBHOOK_SECRETS exits 1 and names the setting and its mend', async () => {
  const { code, stdout, stderr } = await runCommand(['webhooks', 'deliver'], env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^WEBHOOK_SECRETS is not set, .*: set the value that the other processes have\. Where none has one, create it with echo "k\$\(date \+%s\):\$\(openssl rand -base64 32\)", and set it for every process\n$/,
  )
})

it('index load and serve work without WEBHOOK_SECRETS', async () => {
  const line = `${JSON.stringify(sourceOrder())}\n`
  expect(await runCommand(['index', 'load', '--live', '-'], env, line)).toMatchObject({ code: 0 })
  await backend.refresh()
  const created = await runCommand(['keys', 'create', '--account', 'acc_1'], env)
  const service = await serveInProcess([], env)
  const headers = { authorization: `Bearer ${created.stdout.trim()}` }
  const response = await fetch(`${service.baseUrl}/v1/orders/ord_1`, { headers })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ id: 'ord_1' })
  expect(await service.stop()).toBe(0)
})
