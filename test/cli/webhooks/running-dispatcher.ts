import { vi } from 'vitest'
import { startInProcess } from '../../support/cli/command.ts'

/** Settings under which a dispatcher reaches receivers on this machine, on free ports. */
export const DELIVERING = {
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_SECRETS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  PORT: '0',
  OPERATIONS_PORT: '0',
}

/** `webhooks deliver` in this process. */
export interface RunningDispatcher {
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string }
  /** Returns the text of its metrics. */
  metrics(): Promise<string>
  /** Ends it, and waits for its end. Idempotent. */
  stop(): Promise<void>
}

/** Starts `webhooks deliver`, and waits until it delivers. */
export async function startDispatcher(env: Record<string, string>): Promise<RunningDispatcher> {
  const command = startInProcess(['webhooks', 'deliver'], env)
  const waitFor = (text: RegExp) =>
    eventually(() => {
      const [, found = ''] = text.exec(command.output().stderr) ?? []
      if (found === '') throw new Error(`expected ${text} in:\n${command.output().stderr}`)
      return found
    })
  const operations = await waitFor(/operations at (http:[^"]+)/)
  await waitFor(/(this process delivers webhooks now)/)
  return {
    output: command.output,
    metrics: async () => (await fetch(`${operations}/metrics`)).text(),
    async stop() {
      command.sendSignal('SIGTERM')
      await command.finished
    },
  }
}

/** Waits until `check` passes. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 50_000, interval: 50 })
