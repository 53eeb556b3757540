import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { poll } from '../../processes/poll.ts'
import type { Scratch, ScratchProcess } from '../../processes/scratch.ts'
import { JVM_OPTIONS, type JvmPurpose } from '../../tools/jdk.ts'
import { type NodeSecurity, PLUGIN_CLASS } from './security-plugin.ts'

const START_MS = 120_000
const HEALTH_CHECK_MS = 5_000
/** The runner's own name for the first node of a process. */
const RUNNERS_FIRST_NODE = 'Node 1'
const PROGRAM = fileURLToPath(new URL('OpenSearchProcess.java', import.meta.url))
/** The offset of a node's transport port from its HTTP port. */
export const TRANSPORT_OFFSET = 100

export interface ClusterPlan {
  java: string
  classPath: string
  /** The heap of each process. */
  heapMb: number
  /** Consecutive HTTP ports, one per node. */
  ports: readonly number[]
  separateProcesses: boolean
  purpose: JvmPurpose
  /** Absent: no security plugin. */
  security?: NodeSecurity | undefined
}

/** One process of the cluster and the HTTP ports of its nodes. */
export interface ClusterNode {
  /** Another one after a restart. */
  readonly process: ScratchProcess
  readonly ports: readonly number[]
  /** Starts the process again after its end, on the same ports and data. It may not listen yet. */
  startAgain(): Promise<void>
}

/** Starts the processes of a cluster and waits until every node is in it. */
export async function startCluster(plan: ClusterPlan, scratch: Scratch): Promise<ClusterNode[]> {
  const groups = plan.separateProcesses ? plan.ports.map((port) => [port]) : [plan.ports]
  const members = await Promise.all(groups.map((ports) => startNode(plan, scratch, ports)))
  await poll(
    async () => {
      const up = await Promise.all(plan.ports.map((port) => isUp(port, plan, scratch)))
      return up.every(Boolean)
    },
    async () => {
      const states = await Promise.all(members.map(({ process }) => process.describe()))
      return `OpenSearch did not start on ports ${plan.ports.join(', ')}. ${states.join('\n')}`
    },
    {
      timeoutMs: START_MS,
      intervalMs: 200,
      shouldAbort: () => members.some(({ process }) => process.hasEnded()),
    },
  )
  return members
}

async function startNode(
  plan: ClusterPlan,
  scratch: Scratch,
  ports: readonly number[],
): Promise<ClusterNode> {
  const name = nodeName(ports)
  const home = join(scratch.path, `${name}-home`)
  const conf = join(scratch.path, `${name}-conf`)
  const temporary = join(scratch.path, `${name}-tmp`)
  for (const folder of [home, conf, temporary]) await mkdir(folder)
  await writeFile(join(conf, 'opensearch.yml'), settings(plan, scratch, ports))
  for (const [path, content] of Object.entries(plan.security?.files ?? {})) {
    await mkdir(dirname(join(conf, path)), { recursive: true })
    await writeFile(join(conf, path), content)
  }

  const args = [
    ...[`-Xms${plan.heapMb}m`, `-Xmx${plan.heapMb}m`],
    ...[`-Djava.io.tmpdir=${temporary}`, `-Djna.tmpdir=${temporary}`],
    ...['--enable-native-access=ALL-UNNAMED', '-Dlog4j2.disable.jmx=true'],
    ...(plan.separateProcesses ? [`-Dnode.name=${name}`] : []),
    ...JVM_OPTIONS[plan.purpose],
    ...['-cp', plan.classPath, PROGRAM],
    ...['-basePath', home, '-confPath', conf, '-clusterName', clusterName(scratch), '-useLogger'],
    ...['-numOfNode', `${ports.length}`, '-baseHttpPort', `${Number(ports[0]) - 1}`],
    ...(plan.security ? ['-pluginTypes', PLUGIN_CLASS] : []),
  ]
  let process = await scratch.start(name, plan.java, args)
  return {
    get process() {
      return process
    },
    ports,
    async startAgain() {
      process = await scratch.start(name, plan.java, args)
    },
  }
}

/**
 * A stopped node sends nothing, so the others detect it by these timeouts. They are shorter than
 * the defaults, for short tests, and longer than the pauses of a busy machine.
 */
const FAST_CHECKS = {
  'cluster.fault_detection.follower_check.interval': '500ms',
  'cluster.fault_detection.follower_check.timeout': '2s',
  'cluster.fault_detection.leader_check.interval': '500ms',
  'cluster.fault_detection.leader_check.timeout': '2s',
  'cluster.publish.timeout': '5s', // Default: 30 s, which a stopped cluster manager would cost.
}

/** The settings that the runner does not set; JSON is valid YAML. */
function settings(plan: ClusterPlan, scratch: Scratch, ports: readonly number[]): string {
  const transport = ports.map((port) => port + TRANSPORT_OFFSET)
  return JSON.stringify({
    'network.host': '127.0.0.1',
    'transport.port': ports.length === 1 ? transport[0] : `${transport[0]}-${transport.at(-1)}`,
    // A single node bootstraps its own cluster, and the runner sets no seeds for it.
    ...(plan.ports.length > 1 && {
      'discovery.seed_hosts': plan.ports.map((port) => `127.0.0.1:${port + TRANSPORT_OFFSET}`),
      'cluster.initial_cluster_manager_nodes': [
        plan.separateProcesses ? nodeName(plan.ports) : RUNNERS_FIRST_NODE,
      ],
    }),
    ...(plan.separateProcesses && FAST_CHECKS),
    'path.repo': [snapshotFolder(scratch)],
    // A full disk must not make the indices read-only in the middle of a test.
    'cluster.routing.allocation.disk.threshold_enabled': false,
    ...plan.security?.settings,
  })
}

/** Whether the node on this port belongs to this cluster and reports all nodes. */
async function isUp(port: number, plan: ClusterPlan, scratch: Scratch): Promise<boolean> {
  const path = `/_cluster/health?wait_for_nodes=${plan.ports.length}&timeout=1s`
  try {
    const { status, text } = await (plan.security?.get ?? get)(path, port)
    return status === 200 && text.includes(JSON.stringify(clusterName(scratch)))
  } catch {
    return false // It does not listen yet.
  }
}

async function get(path: string, port: number): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(HEALTH_CHECK_MS)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal })
  return { status: response.status, text: await response.text() }
}

/** A folder for snapshot repositories of type `fs` that all nodes can access. */
export const snapshotFolder = (scratch: Scratch) => join(scratch.path, 'snapshots')
const nodeName = (ports: readonly number[]) => `opensearch-${ports[0]}`
const clusterName = (scratch: Scratch) => basename(scratch.path)
