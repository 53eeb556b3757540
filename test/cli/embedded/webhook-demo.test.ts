import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { runCommand, serveInProcess } from '../../support/cli/command.ts'
import { runProgram } from '../../support/cli/program.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/webhook-demo.ts', import.meta.url))

let folder: string
let env: Record<string, string>
beforeEach(() => {
  folder = createTestFolder()
  env = { DATA_DIR: folder }
})

const runDemo = () => runProgram(process.execPath, [SCRIPT], { cwd: folder, env })

async function endpoints(): Promise<unknown[]> {
  const args = ['webhooks', 'list', '--account', DEMO_ACCOUNT, '--json']
  return JSON.parse((await runCommand(args, env)).stdout)
}

it('the webhook demo shows the verified events of an order beside serve --demo', async () => {
  const service = await serveInProcess(['--demo'], env)
  try {
    expect(service.output().stdout).toContain('npm run -s webhook-demo')
    const { code, stdout, stderr } = await runDemo()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = [...stdout.matchAll(/^ {2}(order\.\w+) +sequence (\d)/gm)]
    expect(events.map(([, type, sequence]) => `${type} ${sequence}`)).toEqual([
      ...['order.created 1', 'order.awaiting_payment 2', 'order.paid 3', 'order.removed 4'],
    ])
    expect(await endpoints()).toEqual([])
  } finally {
    await service.stop()
  }
}, 120_000)

it('the webhook demo names the next step, and leaves no endpoint, without a service', async () => {
  await runCommand(['index', 'init'], env)
  const { code, stderr } = await runDemo()
  expect(code).toBe(1)
  expect(stderr).toMatch(/^nothing delivers webhooks: start the service with "npm start"/)
  expect(await endpoints()).toEqual([])
}, 120_000)
