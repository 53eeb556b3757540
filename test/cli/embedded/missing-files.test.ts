import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { runCommand, serveInProcess } from '../../support/cli/command.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

const LIST = ['keys', 'list', '--account', 'acc_1']
const env = () => ({ DATA_DIR: folder, PORT: '0', OPERATIONS_PORT: '0' })

async function loseWebhooks(): Promise<string> {
  await runCommand(['keys', 'create', '--account', 'acc_1'], env())
  const file = join(folder, 'webhooks.db')
  rmSync(file)
  return `${file} is missing or empty beside stored keys`
}

it.each([LIST, ['index', 'status']])(
  'a command prints that webhooks.db is missing: %s %s',
  async (...args) => {
    const warning = await loseWebhooks()
    const { code, stderr } = await runCommand(args, env())
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`warning: ${warning}`),
    })
    expect((await runCommand(args, env())).stderr).not.toContain(warning)
  },
)

it('serve logs that webhooks.db is missing', async () => {
  const warning = await loseWebhooks()
  const service = await serveInProcess([], env())
  await service.stop()
  expect(service.output().stderr).toContain(warning)
})
