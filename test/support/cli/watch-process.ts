import { expect } from 'vitest'
import {
  type BackgroundProcess,
  type ProcessOutput,
  readOutput,
  startBackground,
} from './background-process.ts'
import { startInProcess } from './command.ts'

/** A running `index watch`. */
export interface RunningWatch extends ProcessOutput {
  /** Waits until it is the active writer, or until it stands by. */
  becomesWriter(): Promise<void>
  standsBy(): Promise<void>
  /** Sends SIGTERM, waits for the end and returns the exit code. */
  stop(): Promise<number | null>
  /** Waits for its end and returns the exit code. */
  ended(): Promise<number | null>
}

/** `index watch` in a separate process, which a test may kill or freeze. */
export type WatchProcess = RunningWatch & BackgroundProcess

/** Starts `index watch` in this process. */
export function watchInProcess(env: Record<string, string>): RunningWatch {
  const command = startInProcess(['index', 'watch'], { OPERATIONS_PORT: '0', ...env })
  const ended = command.finished.then(({ code }) => code)
  return {
    ...withStates(readOutput(() => command.output().stdout + command.output().stderr)),
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
  const clock = skewMs === 0 ? {} : { NODE_OPTIONS: skewed(skewMs) }
  return withStates(startBackground(['index', 'watch'], { ...clock, ...env }, under))
}

function withStates<Process extends ProcessOutput>(running: Process) {
  return {
    ...running,
    becomesWriter: () => running.reaches(STATES, WRITER),
    standsBy: () => running.reaches(STATES, STANDBY),
  }
}

/** Checks that the log of a watch states the start and the end of each outage once. */
export function expectOutagesLoggedOnce({ log }: Pick<ProcessOutput, 'log'>): void {
  const logged = log().flatMap(({ msg }) => OUTAGE.filter((text) => msg.includes(text)))
  expect(logged.length).toBeGreaterThan(0)
  // A slow response on a busy machine is a further outage.
  const whole = Array.from({ length: Math.ceil(logged.length / 2) }, () => OUTAGE).flat()
  expect(logged).toEqual(whole)
}

/** `NODE_OPTIONS` of a process whose clock is wrong. */
export function skewed(byMs: number): string {
  const code = `const now = Date.now; Date.now = () => now() + ${byMs}`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

const WRITER = 'this is the writer now'
const STANDBY = 'on standby'
const OUTAGE = ['writes are failing', 'writes recovered']
const STATES = [WRITER, STANDBY, 'this is no longer the writer']
