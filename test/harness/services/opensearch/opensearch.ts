import { areFree, listenOn } from '../../processes/ports.ts'
import { startInScratch } from '../../processes/scratch.ts'
import { findOnPath } from '../../tools/find-on-path.ts'
import { findJava, type JvmPurpose, MIN_JAVA_MAJOR } from '../../tools/jdk.ts'
import {
  type ClusterNode,
  snapshotFolder,
  startCluster,
  TRANSPORT_OFFSET,
} from './cluster-processes.ts'
import { openSearchClassPath, securedClassPath } from './opensearch-class-path.ts'
import { openSearchVersion } from './opensearch-version.ts'
import { nodeSecurity, type SecurityOptions } from './security-plugin.ts'

// The runner always uses HTTP ports of this range, regardless of its settings.
const FIRST_PORT = 9200
const LAST_PORT = 9299
/** The offset from an HTTP port to the port on which a search listens to reserve it. */
const RESERVATION_OFFSET = 200

/** The time of a test to start a service: Maven may download it first. */
export const FIRST_START_MS = 900_000

export interface OpenSearchOptions {
  /** The number of nodes; two by default, so that every shard can have a replica. */
  nodes?: number
  /**
   * One process per node, for tests that stop or kill one. Of two nodes the first must keep
   * running, since it is the whole quorum. Of three nodes any one may stop.
   */
  separateProcesses?: boolean
  /** The heap of each process. */
  heapMb?: number
  /** What it serves; one test file by default. */
  purpose?: JvmPurpose
  /** With the security plugin, in the only version that has one: TLS, users and their roles. */
  security?: SecurityOptions
  /** The environment that selects the version, and in which the JDK and Maven are searched. */
  env?: NodeJS.ProcessEnv
}

export interface OpenSearchNode {
  readonly url: string
  /** For signals; nodes share it unless each has its own process. */
  readonly pid: number
  readonly logFile: string
  /** Ends its process as an upgrade does, with SIGTERM; nodes share it, as they do the id. */
  stop(): Promise<void>
  /** Starts the process again, on the same port and data. It may not listen yet. */
  startAgain(): Promise<void>
}

/** A private cluster on the loopback address. */
export interface RunningOpenSearch {
  /** The value of `OPENSEARCH_URL`: the comma-separated addresses of all nodes. */
  readonly url: string
  readonly nodes: readonly OpenSearchNode[]
  /** The folder for snapshot repositories. */
  readonly snapshots: string
  stop(): Promise<void>
}

/**
 * Starts an OpenSearch cluster from the artifacts of Maven Central, without a container, and waits
 * until all its nodes have joined. It ends with this process at the latest.
 * @throws Error when there is no JDK or Maven
 */
export async function startOpenSearch(options: OpenSearchOptions = {}): Promise<RunningOpenSearch> {
  const { nodes = 2, heapMb = 1024, env = process.env } = options
  const { separateProcesses = false, purpose = 'test' } = options
  const security = options.security && nodeSecurity(options.security)
  const java = await findJava(env)
  const maven = findOnPath('mvn', env)
  if (!java || !maven) throw new Error(`OpenSearch needs a JDK >= ${MIN_JAVA_MAJOR} and Maven`)
  const classPath = security
    ? await securedClassPath(maven, java)
    : await openSearchClassPath(openSearchVersion(env), maven, java)

  return await startInScratch('opensearch', async (scratch) => {
    await using reserved = await reservePorts(nodes)
    const { ports } = reserved
    const plan = { java, classPath, heapMb, ports, separateProcesses, purpose, security }
    const members = await startCluster(plan, scratch)
    const origin = security ? 'https://localhost' : 'http://127.0.0.1'
    const running = members.flatMap((member) =>
      member.ports.map((port) => nodeOf(member, `${origin}:${port}`)),
    )
    return {
      url: running.map(({ url }) => url).join(','),
      nodes: running,
      snapshots: snapshotFolder(scratch),
      stop: scratch.close,
    }
  })
}

function nodeOf(member: ClusterNode, url: string): OpenSearchNode {
  return {
    url,
    get pid() {
      return member.process.pid
    },
    get logFile() {
      return member.process.logFile
    },
    stop: () => member.process.kill('SIGTERM'),
    startAgain: member.startAgain,
  }
}

/**
 * Consecutive free ports, which no other search finds before the disposal: a node listens only
 * seconds after its start. The search starts at random, since other processes may search too.
 */
async function reservePorts(count: number): Promise<AsyncDisposable & { ports: number[] }> {
  const choices = LAST_PORT - FIRST_PORT - count + 2
  const start = Math.floor(Math.random() * choices)
  for (let step = 0; step < choices; step++) {
    const first = FIRST_PORT + ((start + step) % choices)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    const reservation = await listenOn(ports.map((port) => port + RESERVATION_OFFSET))
    if (!reservation) continue
    if (await areFree([...ports, ...ports.map((port) => port + TRANSPORT_OFFSET)])) {
      return Object.assign(reservation, { ports })
    }
    await reservation[Symbol.asyncDispose]()
  }
  throw new Error(`no ${count} free ports in a row from ${FIRST_PORT} to ${LAST_PORT}`)
}
