import { expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { createBackend } from '../../support/stores/backend.ts'

it('index check and index status report without Redis that the stream is missing, and continue', async () => {
  const { env, remove } = createBackend()
  const check = await runCommand(['index', 'check'], env)
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('documents: 0') })
  expect(check.stderr).toMatch(/^no change stream, .*REDIS_URL.*\n$/)
  const status = await runCommand(['index', 'status', '--json'], env)
  expect(JSON.parse(status.stdout)).toMatchObject({ writer: null, stream: null })
  await remove()
})
