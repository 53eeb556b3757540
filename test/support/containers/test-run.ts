import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Docker } from '../../harness/containers/docker.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/test.ts', import.meta.url))

/** `npm test` with some arguments, in a group of processes of its own. */
export interface TestRun {
  /** Its exit code and output, once it has ended. */
  readonly ended: Promise<{ code: number | null; output: string }>
  /** Kills all its processes at once, as a machine that runs out of memory may. */
  kill(): void
}

/** Starts `npm test` with the engine of the tests as the only source of services. */
export function startTestRun(docker: Docker, args: readonly string[]): TestRun {
  const outer = Object.entries(docker.env).filter(([name]) => !/^(VITEST|TEST$)/.test(name))
  const env = { ...Object.fromEntries(outer), OPENSEARCH_URL: '', REDIS_URL: '', CI: 'true' }
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  return {
    ended: once(child, 'close').then(([code]) => ({ code, output })),
    kill: () => process.kill(-pidOf(child), 'SIGKILL'),
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the test run did not start')
  return pid
}
