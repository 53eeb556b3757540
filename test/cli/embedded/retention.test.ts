import { beforeEach, describe, expect, it } from 'vitest'
import { serveInProcess } from '../../support/cli/command.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'
import { DELIVERING, startDispatcher } from '../webhooks/running-dispatcher.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

/** What a command logs until it has started and stopped, with a retention in days. */
async function logOf(
  start: (env: Record<string, string>) => Promise<{
    output(): { stderr: string }
    stop(): Promise<unknown>
  }>,
  days: string,
): Promise<string> {
  const command = await start({ ...DELIVERING, DATA_DIR: folder, WEBHOOK_RETENTION_DAYS: days })
  await command.stop()
  return command.output().stderr
}

describe.each([
  ['serve', (env: Record<string, string>) => serveInProcess([], env)],
  ['webhooks deliver', startDispatcher],
])('%s', (_name, start) => {
  it('warns once that deliveries are kept for longer than WEBHOOK_RETENTION_DAYS', async () => {
    const warning =
      'WEBHOOK_RETENTION_DAYS is 3, and the retry schedule needs 12: webhook deliveries are kept for 12 days'
    expect((await logOf(start, '3')).split(warning)).toHaveLength(2)
  })

  it('does not warn of a retention that it applies', async () => {
    expect(await logOf(start, '12')).not.toContain('WEBHOOK_RETENTION_DAYS')
  })
})
