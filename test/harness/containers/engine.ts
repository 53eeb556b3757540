import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installationCache } from '../../../scripts/installations.ts'
import { poll } from '../processes/poll.ts'
import { findOnPath } from '../tools/find-on-path.ts'
import { type Docker, dockerOn, isReachable } from './docker.ts'

const START_MS = 120_000
/** A run of all files of the tier, on a busy machine. */
const OTHER_RUN_MS = 480_000
const LOWER_LIMITS = fileURLToPath(new URL('lower-limits.ts', import.meta.url))
/** The bit of CAP_SYS_RESOURCE, which lets a process raise its hard limits. */
const RAISES_LIMITS = 1n << 24n

/** An engine for a test file. */
export interface Engine extends AsyncDisposable {
  readonly docker: Docker
  /** Whether it belongs to the tests, with images of their own. */
  readonly isOwn: boolean
}

/** What the machine offers: an engine that responds, or the programs to start one. */
export async function findEngine(env: NodeJS.ProcessEnv): Promise<'running' | 'own' | undefined> {
  if (findOnPath('docker', env) === undefined) return undefined
  if (await isReachable(dockerOn(undefined, env))) return 'running'
  const programs = ['dockerd', 'runc', 'debootstrap', 'iptables']
  const hasAll = programs.every((name) => findOnPath(name, env) !== undefined)
  return hasAll && process.getuid?.() === 0 ? 'own' : undefined
}

/** The engine that responds on this machine, or one of the tests. */
export async function openEngine(): Promise<Engine> {
  const docker = dockerOn(undefined)
  if (!(await isReachable(docker))) return await startEngine()
  return { docker, isOwn: false, [Symbol.asyncDispose]: async () => {} }
}

// Waits for a line or the end of its input, which also marks a SIGKILL of the test. Then it removes
// what the test left, and restores the rules of the network that the engine had replaced. The lock
// covers all of it: the next engine must not save the rules of this one, nor lose its own.
const GUARD = `
work=$1 data=$2; shift 2
exec 3<&0 4>"$data/lock"
flock 4; : >"$work/locked"
iptables-save >"$work/rules"
setsid "$@" <&- 3<&- >"$work/log" 2>&1 & engine=$!
read -r released <&3
export DOCKER_HOST="unix://$work/docker.sock"
kept=$(docker ps -aq) && [ -z "$kept" ] || docker rm --force --volumes $kept
docker network prune --force; docker volume prune --force
docker image prune --force --filter until=24h
kill "$engine"; wait "$engine"
ip link delete docker0
iptables-restore <"$work/rules"
umount -R "$work/exec" ; rm -rf "$work"
`

/**
 * Starts an engine that only this process knows the address of. It keeps its images between runs,
 * waits until another run has released them, and ends with this process.
 */
async function startEngine(): Promise<Engine> {
  const work = await mkdtemp(join(tmpdir(), 'orders-engine-'))
  const data = join(await installationCache(), 'docker')
  await mkdir(data, { recursive: true })
  const host = `unix://${work}/docker.sock`
  const flags = [
    ...['--host', host, '--data-root', data, '--exec-root', `${work}/exec`],
    ...['--pidfile', `${work}/pid`, '--config-file', await writeSettings(work)],
  ]
  const log = await open(join(work, 'guard.log'), 'w')
  const guard = spawn('sh', ['-c', GUARD, 'guard', work, data, 'dockerd', ...flags], {
    stdio: ['pipe', log.fd, log.fd],
    detached: true,
  })
  await log.close()
  const ended = once(guard, 'exit')
  const docker = dockerOn(host)
  const hasEnded = () => guard.exitCode !== null
  await poll(
    async () => existsSync(join(work, 'locked')),
    async () => `${data}/lock stayed locked: another run uses the engine of the tests`,
    { timeoutMs: OTHER_RUN_MS, intervalMs: 200, shouldAbort: hasEnded },
  )
  await poll(
    () => isReachable(docker),
    async () => `dockerd did not start:\n${await readFile(join(work, 'log'), 'utf8')}`,
    { timeoutMs: START_MS, intervalMs: 200, shouldAbort: hasEnded },
  )
  return {
    docker,
    isOwn: true,
    async [Symbol.asyncDispose]() {
      guard.stdin?.end('released\n')
      await ended
    },
  }
}

/** Writes the configuration of the engine. Returns its file. */
async function writeSettings(work: string): Promise<string> {
  const runtime = join(work, 'runc')
  const canRaise = (await capabilities()) & RAISES_LIMITS
  const lowered = `case " $* " in *" create "*|*" exec "*) "${process.execPath}" "${LOWER_LIMITS}" "$@";; esac\n`
  await writeFile(runtime, `#!/bin/sh\n${canRaise ? '' : lowered}exec runc "$@"\n`, { mode: 0o755 })
  const file = join(work, 'daemon.json')
  const settings = { runtimes: { limited: { path: runtime } }, 'default-runtime': 'limited' }
  await writeFile(file, JSON.stringify(settings))
  return file
}

async function capabilities(): Promise<bigint> {
  const [, effective] = /^CapEff:\s*(\w+)/m.exec(await readFile('/proc/self/status', 'utf8')) ?? []
  return BigInt(`0x${effective ?? '0'}`)
}
