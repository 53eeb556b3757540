import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Waits for a line, or for the end of its input, which is the end of this program however it comes, SIGKILL
// included. A killed JVM writes for a moment more, and so the folder may have to be removed twice.
const GUARD = `
read -r released && exit
for file in "$1"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")"; done
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`
const LOG_TAIL_CHARACTERS = 3000

/** A program that runs in a scratch folder. */
export interface ScratchProcess {
  readonly pid: number
  /** What it prints goes there. */
  readonly logFile: string
  hasEnded(): boolean
  /** The end of what it has printed, to tell why it did not start. */
  logTail(): Promise<string>
  /** Kills it, stopped or not, and waits for its end. */
  kill(): Promise<void>
}

/** A temporary folder with programs that run in it. Neither outlives this process. */
export interface Scratch {
  readonly path: string
  /** Starts a program; `name` is unique in the folder while it runs, and its output goes to `name.log`. */
  start(name: string, command: string, args: readonly string[]): Promise<ScratchProcess>
  /** Kills what runs and removes the folder. */
  close(): Promise<void>
}

/** Makes a temporary folder whose name tells what it is for. */
export async function openScratch(purpose: string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), `orders-${purpose}-`))
  // Detached, as all that runs here: Ctrl-C is for the owner of the folder, who decides on the order.
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
        rmSync(pidFile, { force: true }) // The number may soon be another program's.
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

function scratchProcess(child: ChildProcess, logFile: string): ScratchProcess {
  const { pid } = child
  if (pid === undefined) throw new Error('a program that was spawned has no process id')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid,
    logFile,
    hasEnded,
    async logTail() {
      return (await readFile(logFile, 'utf8')).slice(-LOG_TAIL_CHARACTERS)
    },
    async kill() {
      if (hasEnded()) return
      const end = once(child, 'exit')
      child.kill('SIGKILL')
      await end
    },
  }
}
