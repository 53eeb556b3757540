import type { StartedNetwork } from 'testcontainers'
import { openSearchVersion } from './opensearch/opensearch-version.ts'

/** A service at this address; `stop` removes it. */
export interface RunningService {
  readonly url: string
  stop(): Promise<void>
}

const OPENSEARCH_IMAGE = 'opensearchproject/opensearch'
const REDIS_IMAGE = 'redis:8.10.1-trixie'
const START_MS = 180_000
const NODES = ['opensearch-1', 'opensearch-2'] as const
const HTTP_PORT = 9200
const REDIS_PORT = 6379

// Imported lazily: testcontainers loads more slowly than the unit tests start.
const testcontainers = () => import('testcontainers')

/** Whether a Docker engine or a compatible one is reachable. */
export async function isDockerReachable(): Promise<boolean> {
  const { getContainerRuntimeClient } = await testcontainers()
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    return false
  }
}

/** Redis in a container, without persistence. */
export async function startRedisContainer(): Promise<RunningService> {
  const { GenericContainer, Wait } = await testcontainers()
  const redis = await new GenericContainer(REDIS_IMAGE)
    .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
    .withExposedPorts(REDIS_PORT)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .withStartupTimeout(START_MS)
    .start()
  return {
    url: `redis://${redis.getHost()}:${redis.getMappedPort(REDIS_PORT)}`,
    async stop() {
      await redis.stop()
    },
  }
}

/** A cluster of two OpenSearch nodes, one container per node. */
export async function startOpenSearchContainers(env: NodeJS.ProcessEnv): Promise<RunningService> {
  const image = `${OPENSEARCH_IMAGE}:${openSearchVersion(env)}`
  const { Network } = await testcontainers()
  const network = await new Network().start()
  // When a start fails, testcontainers removes the containers at the end of this process.
  const nodes = await Promise.all(NODES.map((name) => startNode(image, name, network)))
  return {
    url: nodes.map((node) => `http://${node.getHost()}:${node.getMappedPort(HTTP_PORT)}`).join(','),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
      await network.stop()
    },
  }
}

async function startNode(image: string, name: string, network: StartedNetwork) {
  const { GenericContainer, Wait } = await testcontainers()
  return await new GenericContainer(image)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withEnvironment({
      DISABLE_SECURITY_PLUGIN: 'true',
      DISABLE_INSTALL_DEMO_CONFIG: 'true',
      OPENSEARCH_JAVA_OPTS: '-Xms512m -Xmx512m',
      'node.name': name,
      'discovery.seed_hosts': NODES.join(','),
      'cluster.initial_cluster_manager_nodes': NODES[0],
      'cluster.routing.allocation.disk.threshold_enabled': 'false',
      'node.store.allow_mmap': 'false', // Otherwise the host needs a higher vm.max_map_count.
    })
    .withUlimits({ nofile: { soft: 65_536, hard: 65_536 } })
    .withExposedPorts(HTTP_PORT)
    .withWaitStrategy(
      Wait.forHttp(
        `/_cluster/health?wait_for_nodes=${NODES.length}&timeout=500ms`,
        HTTP_PORT,
      ).forStatusCode(200),
    )
    .withStartupTimeout(START_MS)
    .start()
}
