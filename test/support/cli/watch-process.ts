import { once } from 'node:events'
import { vi } from 'vitest'
import { startCommand, startInProcess } from './command.ts'

export type LogLine = { level: number; msg: string } & Record<string, unknown>

/** A running `index watch`. */
export interface RunningWatch {
  /** Its log lines so far, and its other output. */
  log(): LogLine[]
  output(): string
  /** Waits until it is the active writer, or until it stands by. */
  becomesWriter(): Promise<void>
  standsBy(): Promise<void>
  /** Waits until it has logged a line with this text. */
  waitForLog(text: string): Promise<LogLine>
  /** Returns a path of its operations port as text. */
  operations(path: '/metrics' | '/health/live' | '/health/ready'): Promise<string>
  /** Returns the value of a metric, without its labels or with them in braces. */
  metric(name: string): Promise<number>
  /** Sends SIGTERM, waits for the end and returns the exit code. */
  stop(): Promise<number | null>
  /** Waits for its end and returns the exit code. */
  ended(): Promise<number | null>
}

/** `index watch` in a separate process, which a test may kill or freeze. */
export interface WatchProcess extends RunningWatch {
  pid: number
  signal(signal: NodeJS.Signals): void
  hasEnded(): boolean
  /** Sends a signal, waits for the end and returns the exit code, or `null` when it was killed. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const LOG_TIMEOUT_MS = 60_000

/** Starts `index watch` in this process. */
export function watchInProcess(env: Record<string, string>): RunningWatch {
  const command = startInProcess(['index', 'watch'], { OPERATIONS_PORT: '0', ...env })
  const ended = command.finished.then(({ code }) => code)
  return {
    ...reading(() => command.output().stdout + command.output().stderr),
    stop() {
      command.sendSignal('SIGTERM')
      return ended
    },
    ended: () => ended,
  }
}

/** `skewMs`: the error of its clock; `under`: the command that runs it, such as strace. */
export function startWatch(
  env: Record<string, string>,
  skewMs = 0,
  under: readonly string[] = [],
): WatchProcess {
  const settings = {
    OPERATIONS_PORT: '0',
    ...(skewMs !== 0 && { NODE_OPTIONS: skewed(skewMs) }),
    ...env,
  }
  const child = startCommand(['index', 'watch'], settings, under)
  const { pid } = child
  if (pid === undefined) throw new Error('index watch did not start')
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
    ...reading(() => output),
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

/** Reads the state of `index watch` from its output and its operations port. */
function reading(output: () => string): Omit<RunningWatch, 'stop' | 'ended'> {
  function log(): LogLine[] {
    const whole = output().split('\n').slice(0, -1)
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  }
  const waitForLog = (text: string) =>
    vi.waitFor(
      () => {
        const line = log().find(({ msg }) => msg.includes(text))
        if (line === undefined) throw new Error(`no log line contains "${text}":\n${output()}`)
        return line
      },
      { timeout: LOG_TIMEOUT_MS, interval: 20 },
    )
  /** The last line decides: it may become the writer, stand by, and become the writer again. */
  const becomes = (text: string) =>
    vi.waitFor(
      () => {
        const states = log().filter(({ msg }) => STATES.some((state) => msg.includes(state)))
        if (!states.at(-1)?.msg.includes(text)) throw new Error(`not "${text}":\n${output()}`)
      },
      { timeout: LOG_TIMEOUT_MS, interval: 20 },
    )
  async function operations(path: string): Promise<string> {
    const { msg } = await waitForLog('operations at')
    const response = await fetch(`${msg.split(' ').at(-1)}${path}`)
    return await response.text()
  }

  return {
    log,
    output,
    waitForLog,
    becomesWriter: () => becomes(WRITER),
    standsBy: () => becomes(STANDBY),
    operations,
    async metric(name) {
      const lines = (await operations('/metrics')).split('\n')
      return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1))
    },
  }
}

/** `NODE_OPTIONS` of a process whose clock is wrong. */
export function skewed(byMs: number): string {
  const code = `const now = Date.now; Date.now = () => now() + ${byMs}`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

const WRITER = 'this is the writer now'
const STANDBY = 'on standby'
const STATES = [WRITER, STANDBY, 'this is no longer the writer']
