import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { openWebhookCommands } from './webhook-commands.ts'

const commands = openWebhookCommands()
const { run, json, create, deliver, env } = commands
beforeAll(async () => {
  await runCommand(['index', 'init'], env)
})
afterAll(commands.remove)

describe('webhooks operator-secret', () => {
  it('prints the secret of notices, the same each time', async () => {
    const { secret } = await json('operator-secret')
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await run('operator-secret')).stdout).toBe(`${secret}\n`)
  })
})

describe('webhooks status', () => {
  it('reports that no dispatcher ran, and no endpoint', async () => {
    expect(await json('status')).toEqual({
      dispatcher: null,
      due: 0,
      oldest_due_seconds: null,
      endpoints: { enabled: 0, failing: 0, disabled: 0 },
    })
  })

  it('reports the dispatcher, the backlog and the endpoints', async () => {
    const { id } = await create()
    await run('disable', (await create()).id)
    await deliver(id, { nextAt: Date.now() - 1_000 })
    await commands.withServices(async ({ webhooks }) => {
      const signal = new AbortController().signal
      const lease = await webhooks.acquireLease({ onDelay() {}, signal })
      const status = await json('status')
      expect(status).toEqual({
        dispatcher: { holder: expect.any(String), alive: true },
        due: 1,
        oldest_due_seconds: expect.any(Number),
        endpoints: { enabled: 1, failing: 0, disabled: 1 },
      })
      expect(status.oldest_due_seconds).toBeGreaterThanOrEqual(1)
      const { stdout } = await run('status')
      expect(stdout).toMatch(/^dispatcher: +\S+.*, alive\ndue: +1\noldest due: +[\d.]+ s\n/)
      expect(stdout).toMatch(/^endpoints enabled: +1\n.*failing: +0\n.*disabled: +1\n$/m)
      await lease.release()
    })
    expect(await json('status')).toMatchObject({ dispatcher: { alive: false } })
    expect((await run('status')).stdout).toMatch(/^dispatcher: +none now; the last was /)
  })

  it('counts the events that no dispatcher has read', async () => {
    const { due } = await json('status')
    await commands.loadOrder()
    expect(await json('status')).toMatchObject({ due: due + 1 })
  })
})
