import { once } from 'node:events'
import { connect } from 'node:net'
import { poll } from '../processes/poll.ts'
import { areFree, findFreePort } from '../processes/ports.ts'
import { type ScratchProcess, startInScratch } from '../processes/scratch.ts'
import { findOnPath } from '../tools/find-on-path.ts'

const START_MS = 180_000
const PING_TIMEOUT_MS = 1_000
const MAX_PORT = 65_535
/** The offset of a node's cluster bus port from its client port. */
const BUS_OFFSET = 10_000

export interface RedisOptions {
  /** More arguments of `redis-server`: `['--cluster-enabled', 'yes']`. */
  args?: readonly string[]
  /** Default: a free port whose bus port for Redis Cluster is free too. */
  port?: number
  /** The environment whose path is searched. */
  env?: NodeJS.ProcessEnv
}

/** A private Redis on the loopback address, without persistence. */
export interface RunningRedis {
  readonly url: string
  readonly port: number
  /** For signals; `undefined` once it has ended. */
  readonly pid: number | undefined
  /** Kills a running process and starts an empty Redis on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the `redis-server` of the path and waits until it responds. It ends with this process at
 * the latest.
 * @throws Error when the path has none
 */
export async function startRedis(options: RedisOptions = {}): Promise<RunningRedis> {
  const { args = [], env = process.env } = options
  const program = findOnPath('redis-server', env)
  if (!program) throw new Error('redis-server is not on the path')
  return await startInScratch('redis', async (scratch) => {
    const port = options.port ?? (await findFreePort(hasFreeBus))
    const ownArgs = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    let redis: ScratchProcess

    const start = async () => {
      redis = await scratch.start('redis-server', program, [...ownArgs, ...args])
      await poll(
        () => isServedBy(redis.pid, port),
        async () => `redis-server did not start on port ${port}. ${await redis.describe()}`,
        { timeoutMs: START_MS, intervalMs: 20, shouldAbort: redis.hasEnded },
      )
    }

    await start()
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      get pid() {
        return redis.hasEnded() ? undefined : redis.pid
      },
      async restart() {
        await redis.kill()
        await start()
      },
      stop: scratch.close,
    }
  })
}

async function hasFreeBus(port: number): Promise<boolean> {
  return port + BUS_OFFSET <= MAX_PORT && (await areFree([port + BUS_OFFSET]))
}

/** Queries the process id, because another Redis may have got the port and would respond. */
async function isServedBy(pid: number, port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.setEncoding('utf8').write('INFO server\r\n')
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(PING_TIMEOUT_MS) })
    return answer.includes(`process_id:${pid}\r`) || answer.startsWith('-NOAUTH')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
