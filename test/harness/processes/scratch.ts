import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorText } from '../../../src/lib/errors/error-text.ts'

// Waits for a line or the end of its input, which also marks a SIGKILL of this program.
// A killed JVM writes for a moment longer, so the folder may need a second removal.
const GUARD = `
read -r released && exit
for file in "$1"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")"; done
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`
const LOG_TAIL_CHARACTERS = 3000
const START_ATTEMPTS = 2

/** A program that runs in a scratch folder. */
export interface ScratchProcess {
  readonly pid: number
  /** The log file of its output. */
  readonly logFile: string
  hasEnded(): boolean
  /** `null` while it runs, and after a signal. */
  exitCode(): number | null
  /** The tail of its output. */
  logTail(): Promise<string>
  /** Whether and how it has ended, and the tail of its output, which explain a failed start. */
  describe(): Promise<string>
  /** Sends a signal and waits for the exit. SIGKILL, the default, also ends a stopped program. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** A temporary folder and its programs. Neither outlives this process. */
export interface Scratch {
  readonly path: string
  /**
   * Starts a program; `name` is unique in the folder while it runs, and its output goes to
   * `name.log`.
   */
  start(name: string, command: string, args: readonly string[]): Promise<ScratchProcess>
  /** Kills the programs and removes the folder. */
  close(): Promise<void>
}

/** Creates a temporary folder named for its purpose. */
export async function openScratch(purpose: string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), `orders-${purpose}-`))
  // Detached like all programs here: the owner of the folder handles Ctrl-C and the order.
  const guard = spawn('sh', ['-c', GUARD, 'guard', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  const ended = once(guard, 'exit')
  const running = new Set<ScratchProcess>()

  async function start(name: string, command: string, args: readonly string[]) {
    const logFile = join(path, `${name}.log`)
    const pidFile = join(path, `${name}.pid`)
    const log = await open(logFile, 'a')
    try {
      const child = spawn(command, args, {
        cwd: path,
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
      })
      if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid))
      await once(child, 'spawn')
      const started = scratchProcess(child, logFile)
      running.add(started)
      child.once('exit', () => {
        running.delete(started)
        rmSync(pidFile, { force: true }) // The system may reuse the process id.
      })
      return started
    } finally {
      await log.close()
    }
  }

  async function close() {
    await Promise.all([...running].map((one) => one.kill()))
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
    guard.ref()
    guard.stdin.end('released\n')
    await ended
  }

  return { path, start, close }
}

/**
 * Starts a service in a folder of its own. It is started twice if need be, because the first start
 * can lose a free port to another process. After a failure nothing is left of it.
 * @throws Error with the messages of both starts
 */
export async function startInScratch<Service>(
  purpose: string,
  start: (scratch: Scratch) => Promise<Service>,
): Promise<Service> {
  const failures: string[] = []
  while (failures.length < START_ATTEMPTS) {
    const scratch = await openScratch(purpose)
    try {
      return await start(scratch)
    } catch (error) {
      failures.push(errorText(error))
      await scratch.close()
    }
  }
  throw new Error(failures.join('\n'))
}

function scratchProcess(child: ChildProcess, logFile: string): ScratchProcess {
  const { pid } = child
  if (pid === undefined) throw new Error('a program that was spawned has no process id')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const logTail = async () => (await readFile(logFile, 'utf8')).slice(-LOG_TAIL_CHARACTERS)
  const state = () => {
    if (!hasEnded()) return 'The process still runs'
    return `The process ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`
  }
  return {
    pid,
    logFile,
    hasEnded,
    exitCode: () => child.exitCode,
    logTail,
    describe: async () => `${state()}. Its output ends with:\n${await logTail()}`,
    async kill(signal = 'SIGKILL') {
      if (hasEnded()) return
      const end = once(child, 'exit')
      child.kill(signal)
      await end
    },
  }
}
