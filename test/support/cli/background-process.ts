import { once } from 'node:events'
import { vi } from 'vitest'
import { metricIn } from '../http/metric.ts'
import { startCommand } from './command.ts'

export type LogLine = { level: number; msg: string } & Record<string, unknown>

/** What a command that keeps running prints, and its operations port. */
export interface ProcessOutput {
  /** Its log lines so far, and its other output. */
  log(): LogLine[]
  output(): string
  /** Waits until it has logged a line with this text. */
  waitForLog(text: string): Promise<LogLine>
  /** Waits until the last logged line of those with one of the texts `states` has `text`. */
  reaches(states: readonly string[], text: string): Promise<void>
  /** Returns a path of its operations port as text. */
  operations(path: '/metrics' | '/health/live' | '/health/ready'): Promise<string>
  /** Returns the value of a metric, without its labels or with them in braces. */
  metric(name: string): Promise<number>
}

/** A command that keeps running in a separate process, which a test may kill or freeze. */
export interface BackgroundProcess extends ProcessOutput {
  pid: number
  signal(signal: NodeJS.Signals): void
  hasEnded(): boolean
  /** Sends a signal, waits for the end and returns the exit code, or `null` when it was killed. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Waits for its end and returns the exit code. */
  ended(): Promise<number | null>
}

const LOG_TIMEOUT_MS = 60_000

/** Starts a command with a free operations port; `under`: the command that runs it. */
export function startBackground(
  args: readonly string[],
  env: Record<string, string>,
  under: readonly string[] = [],
): BackgroundProcess {
  const child = startCommand(args, { OPERATIONS_PORT: '0', ...env }, under)
  const { pid } = child
  if (pid === undefined) throw new Error(`${args.join(' ')} did not start`)
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const closed = once(child, 'close')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null

  return {
    ...readOutput(() => output),
    pid,
    hasEnded,
    signal(signal) {
      if (!hasEnded()) child.kill(signal)
    },
    async stop(signal = 'SIGTERM') {
      if (!hasEnded()) child.kill(signal)
      await closed
      return child.exitCode
    },
    async ended() {
      await closed
      return child.exitCode
    },
  }
}

/** Reads the state of a command from its output and its operations port. */
export function readOutput(output: () => string): ProcessOutput {
  function log(): LogLine[] {
    const whole = output().split('\n').slice(0, -1)
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  }
  const wait = <T>(check: () => T) => vi.waitFor(check, { timeout: LOG_TIMEOUT_MS, interval: 20 })
  const waitForLog = (text: string) =>
    wait(() => {
      const line = log().find(({ msg }) => msg.includes(text))
      if (line === undefined) throw new Error(`no log line contains "${text}":\n${output()}`)
      return line
    })
  async function operations(path: string): Promise<string> {
    const { msg } = await waitForLog('operations at')
    const response = await fetch(`${msg.split(' ').at(-1)}${path}`)
    return await response.text()
  }

  return {
    log,
    output,
    waitForLog,
    reaches: (states, text) =>
      wait(() => {
        const reached = log().filter(({ msg }) => states.some((state) => msg.includes(state)))
        if (!reached.at(-1)?.msg.includes(text)) throw new Error(`not "${text}":\n${output()}`)
      }),
    operations,
    metric: async (name) => metricIn(await operations('/metrics'), name),
  }
}
