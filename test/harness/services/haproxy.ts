import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { poll } from '../processes/poll.ts'
import { findFreePort } from '../processes/ports.ts'
import { startInScratch } from '../processes/scratch.ts'
import { findOnPath, PROGRAM_CHECK_MS } from '../tools/find-on-path.ts'
import { makeCertificate } from './certificate.ts'

/** The minimum version for the edge's configuration; Debian 12 provides it. */
export const MIN_HAPROXY = { major: 2, minor: 6 }

const CONFIG = fileURLToPath(new URL('../../../docker/edge/haproxy.cfg', import.meta.url))
const START_MS = 180_000
// Debian installs HAProxy in a folder that is only on root's path.
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin']

/** A process of the API on the loopback address. */
export interface Upstream {
  port: number
  operationsPort: number
}

export interface HaproxyOptions {
  /** What the edge forwards to: they run already or start later. */
  processes: readonly Upstream[]
  /** Variables documented at the top of `docker/edge/haproxy.cfg`. */
  settings?: Record<string, string>
  /** The environment whose path is searched. */
  env?: NodeJS.ProcessEnv
}

/** The edge, on free ports of the loopback address. */
export interface RunningHaproxy {
  readonly httpsPort: number
  readonly httpPort: number
  /** PEM of the authority that signed its certificate, for `localhost` and `127.0.0.1`. */
  readonly ca: string
  /** The complete log. */
  log(): Promise<string>
  stop(): Promise<void>
}

/**
 * Starts HAProxy with the unchanged configuration of `docker/edge` and waits until it listens. It
 * ends with this process at the latest.
 * @throws Error when no HAProxy is installed or its version is too old
 */
export async function startHaproxy({
  processes,
  settings = {},
  env = process.env,
}: HaproxyOptions): Promise<RunningHaproxy> {
  const program = await findHaproxy(env)
  if (!program) throw new Error('haproxy is not on the path, or too old')
  return await startInScratch('haproxy', async (scratch) => {
    const httpsPort = await findFreePort(() => true)
    const httpPort = await findFreePort((port) => port !== httpsPort)
    const { cert, key, ca } = await makeCertificate()
    const certificate = join(scratch.path, 'edge.pem')
    await writeFile(certificate, `${cert}\n${key}`, { mode: 0o600 })
    const variables = {
      EDGE_CERTIFICATE: certificate,
      EDGE_MAX_CONNECTIONS: '1000',
      EDGE_HTTPS_BIND: `127.0.0.1:${httpsPort}`,
      EDGE_HTTP_BIND: `127.0.0.1:${httpPort}`,
      ...Object.fromEntries(processes.flatMap(settingsOf)),
      ...settings,
    }
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    // Only the settings are in its environment, and `env` replaces itself with the program.
    const args = ['-i', ...assignments, program, '-db', '-f', CONFIG]
    const haproxy = await scratch.start('haproxy', 'env', args)
    await poll(
      () => listens(httpPort),
      async () => `haproxy did not start. ${await haproxy.describe()}`,
      { timeoutMs: START_MS, intervalMs: 20, shouldAbort: haproxy.hasEnded },
    )
    return {
      httpsPort,
      httpPort,
      ca,
      log: () => readFile(join(scratch.path, 'haproxy.log'), 'utf8'),
      stop: scratch.close,
    }
  })
}

function settingsOf({ port, operationsPort }: Upstream, at: number): [string, string][] {
  return [
    [`EDGE_API_${at + 1}`, `127.0.0.1:${port}`],
    [`EDGE_API_${at + 1}_OPERATIONS_PORT`, `${operationsPort}`],
  ]
}

/** A recent enough `haproxy` of the path or the usual folders; `undefined` when there is none. */
export async function findHaproxy(
  env: NodeJS.ProcessEnv,
  systemFolders: readonly string[] = SYSTEM_FOLDERS,
): Promise<string | undefined> {
  const folders = [env['PATH'] ?? '', ...systemFolders]
  const program = findOnPath('haproxy', { PATH: folders.join(delimiter) })
  if (!program) return undefined
  try {
    const { stdout } = await promisify(execFile)(program, ['-v'], { timeout: PROGRAM_CHECK_MS })
    return isNewEnough(stdout) ? program : undefined
  } catch {
    return undefined
  }
}

/** Whether the output of `haproxy -v` shows a supported version. */
export function isNewEnough(text: string): boolean {
  const [, major, minor] = /version (\d+)\.(\d+)/.exec(text) ?? []
  const older = Number(major) - MIN_HAPROXY.major || Number(minor) - MIN_HAPROXY.minor
  return older >= 0
}

async function listens(httpPort: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${httpPort}/`)
    return response.status === 400
  } catch {
    return false
  }
}
