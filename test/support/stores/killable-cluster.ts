import { vi } from 'vitest'
import { type OpenSearchNode, startOpenSearch } from '../../harness/services/opensearch.ts'
import { opensearch } from './backend.ts'

/**
 * An OpenSearch whose nodes can be stopped and killed one by one; until it is stopped, it is the one that
 * the tests' services are opened on.
 */
export async function startKillableCluster(nodeCount: number) {
  const { nodes, stop } = await startOpenSearch({
    nodes: nodeCount,
    separateProcesses: true,
    heapMb: 512,
  })
  /** From here on, what tests want to know of the cluster is asked of another node. */
  const avoid = (node?: OpenSearchNode) => {
    const others = nodes.filter((other) => other !== node)
    vi.stubEnv('OPENSEARCH_URL', others.map(({ url }) => url).join())
  }
  avoid()

  return {
    nodes,

    /** Stops the node until the others do without it and `meanwhile` is over; then it goes on, and joins them. */
    async sleep(node: OpenSearchNode, meanwhile: () => Promise<void>): Promise<void> {
      avoid(node)
      process.kill(node.pid, 'SIGSTOP')
      try {
        await untilThere(nodeCount - 1, 'yellow')
        await meanwhile()
      } finally {
        process.kill(node.pid, 'SIGCONT')
      }
      await untilThere(nodeCount, 'green')
    },

    /** For ever; returns when the others do without it. */
    async kill(node: OpenSearchNode): Promise<void> {
      avoid(node)
      process.kill(node.pid, 'SIGKILL')
      await untilThere(nodeCount - 1, 'yellow')
    },

    /** The node with the primary of an index that has one shard. */
    async nodeOfPrimary(index: string): Promise<OpenSearchNode> {
      const path = `_cat/shards/${index}?format=json`
      const shards = await opensearch<{ prirep: string; node: string }[]>('GET', path)
      const { node: name } = shards.find(({ prirep }) => prirep === 'p') ?? {}
      const node = nodes.find(({ url }) => name?.endsWith(`-${new URL(url).port}`))
      if (node === undefined) throw new Error(`no node is called ${name}`)
      return node
    },

    async stop(): Promise<void> {
      vi.unstubAllEnvs()
      await stop()
    },
  }
}

export type KillableCluster = Awaited<ReturnType<typeof startKillableCluster>>

/** As the node that is asked sees it by itself: the one that manages the cluster may be asleep. */
async function untilThere(nodes: number, status: 'green' | 'yellow'): Promise<void> {
  const wanted = `wait_for_nodes=${nodes}&wait_for_status=${status}`
  await opensearch('GET', `_cluster/health?local=true&timeout=60s&${wanted}`)
}
