import { expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { createBackend } from '../../support/stores/backend.ts'

it('without Redis, a check and the status say that there is no stream, and go on', async () => {
  const { env, remove } = createBackend()
  const check = await runCommand(['index', 'check'], env)
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('documents: 0') })
  expect(check.stderr).toMatch(/^no stream of changes, .*REDIS_URL.*\n$/)
  const status = await runCommand(['index', 'status', '--json'], env)
  expect(JSON.parse(status.stdout)).toMatchObject({ writer: null, stream: null })
  await remove()
})
