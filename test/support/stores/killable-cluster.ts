import { vi } from 'vitest'
import {
  type OpenSearchNode,
  startOpenSearch,
} from '../../harness/services/opensearch/opensearch.ts'
import { opensearch } from './backend.ts'

/**
 * An OpenSearch cluster whose nodes can be frozen, restarted and killed one by one. Until it is
 * stopped, the tests open their services on it.
 */
export async function startKillableCluster(nodeCount: number) {
  const { nodes, stop } = await startOpenSearch({
    nodes: nodeCount,
    separateProcesses: true,
    heapMb: 512,
  })
  /** From here on, the tests send their cluster requests to the other nodes. */
  const avoid = (...avoided: readonly OpenSearchNode[]) => {
    const others = nodes.filter((node) => !avoided.includes(node))
    vi.stubEnv('OPENSEARCH_URL', others.map(({ url }) => url).join())
  }
  avoid()
  /** A replica that is still being copied cannot replace its primary. */
  const untilGreen = () => untilThere(nodeCount, 'green')

  /** Freezes the node until the others have replaced it and `meanwhile` is over; resumes it. */
  async function freeze(
    node: OpenSearchNode,
    meanwhile: () => Promise<void>,
    onFrozen = () => {},
  ): Promise<void> {
    avoid(node)
    process.kill(node.pid, 'SIGSTOP')
    try {
      onFrozen()
      await untilThere(nodeCount - 1, 'yellow')
      await meanwhile()
    } finally {
      process.kill(node.pid, 'SIGCONT')
    }
  }

  async function nodeOf(kind: ListedShard['prirep'], index: string): Promise<OpenSearchNode> {
    const path = `_cat/shards/${index}?format=json`
    const shards = await opensearch<ListedShard[]>('GET', path)
    const { node: name } =
      shards.find(({ shard, prirep }) => shard === '0' && prirep === kind) ?? {}
    const node = nodes.find(({ url }) => name?.endsWith(`-${new URL(url).port}`))
    if (node === undefined) throw new Error(`no node is called ${name}`)
    return node
  }

  return {
    nodes,

    /**
     * Freezes the node until the others have replaced it and `meanwhile` is over; then resumes it,
     * and waits until it rejoins.
     */
    async sleep(node: OpenSearchNode, meanwhile: () => Promise<void>): Promise<void> {
      await untilGreen()
      await freeze(node, meanwhile)
      await untilGreen()
    },

    /**
     * Inside `sleep`: waits until the other nodes have both copies of every shard. A second node
     * that freezes earlier may have the only one.
     */
    async untilCopied(): Promise<void> {
      await delayCopies('0s')
      await untilThere(nodeCount - 1, 'green')
      await delayCopies(null)
    },

    /**
     * Inside `sleep`: freezes a second node, resumes the sleeping one until the others have replaced
     * the second and `meanwhile` is over; then resumes the second.
     */
    async sleepInstead(
      sleeping: OpenSearchNode,
      node: OpenSearchNode,
      meanwhile: () => Promise<void>,
    ): Promise<void> {
      await freeze(node, meanwhile, () => process.kill(sleeping.pid, 'SIGCONT'))
    },

    /**
     * Stops the node as an upgrade does, calls `whileDown`, starts the node again, and waits until
     * it has rejoined with its shard copies.
     */
    async restart(node: OpenSearchNode, whileDown: () => void): Promise<void> {
      await untilGreen()
      avoid(node)
      await node.stop()
      await untilThere(nodeCount - 1, 'yellow')
      whileDown()
      await node.startAgain()
      await untilGreen()
    },

    /** Kills the node for good; returns when the others have replaced it. */
    async kill(node: OpenSearchNode): Promise<void> {
      await untilGreen()
      avoid(node)
      process.kill(node.pid, 'SIGKILL')
      await untilThere(nodeCount - 1, 'yellow')
    },

    /** The node with the primary of the first shard of an index, by its name or alias. */
    nodeOfPrimary: (index: string) => nodeOf('p', index),
    /** The node with its replica. */
    nodeOfReplica: (index: string) => nodeOf('r', index),

    /** Moves the shards of these indices from the node to the others. */
    async withoutShards({ url }: OpenSearchNode, indices: string): Promise<void> {
      const exclude = { 'index.routing.allocation.exclude._name': `*-${new URL(url).port}` }
      await opensearch('PUT', `${indices}/_settings`, exclude)
      const wanted = 'wait_for_no_relocating_shards=true&wait_for_status=green'
      await opensearch('GET', `_cluster/health/${indices}?timeout=${TIMEOUT_S}s&${wanted}`)
    },

    async stop(): Promise<void> {
      vi.unstubAllEnvs()
      await stop()
    },
  }
}

interface ListedShard {
  shard: string
  /** A primary or a replica. */
  prirep: 'p' | 'r'
  node: string
}

export type KillableCluster = Awaited<ReturnType<typeof startKillableCluster>>

/** Several times what a cluster needs that shares its processors with other tests and reindexes. */
const TIMEOUT_S = 180

/** How long the copies of a node that left wait for its return; `null`: a minute. */
async function delayCopies(timeout: string | null): Promise<void> {
  await opensearch('PUT', '*/_settings', { 'index.unassigned.node_left.delayed_timeout': timeout })
}

/** Reads the local view of the node, because the elected cluster manager may be frozen. */
async function untilThere(nodes: number, status: 'green' | 'yellow'): Promise<void> {
  const wanted = `wait_for_nodes=${nodes}&wait_for_status=${status}`
  await opensearch('GET', `_cluster/health?local=true&timeout=${TIMEOUT_S}s&${wanted}`)
}
