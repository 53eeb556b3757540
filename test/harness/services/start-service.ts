import { findMissingTools } from '../tools/tools.ts'
import {
  type RunningService,
  startOpenSearchContainers,
  startRedisContainer,
} from './containers.ts'
import { startOpenSearch } from './opensearch/opensearch.ts'
import { startRedis } from './redis.ts'
import type { Tool } from './service-sources.ts'

/** The source of a service whose variable is not set. */
interface ServiceStarter {
  name: string
  startContainer(env: NodeJS.ProcessEnv): Promise<RunningService>
  startProcess(env: NodeJS.ProcessEnv): Promise<RunningService>
  /** The requirements of the local process that this machine lacks. */
  missingTools(env: NodeJS.ProcessEnv): Promise<Tool[]>
}

export type Variable = 'OPENSEARCH_URL' | 'REDIS_URL'

export const serviceStarters = {
  OPENSEARCH_URL: {
    name: 'OpenSearch',
    startContainer: startOpenSearchContainers,
    startProcess: (env) => startOpenSearch({ purpose: 'run', env }),
    missingTools: (env) => findMissingTools(['jdk', 'maven'], env),
  },
  REDIS_URL: {
    name: 'Redis',
    startContainer: startRedisContainer,
    startProcess: (env) => startRedis({ env }),
    missingTools: (env) => findMissingTools(['redis-server'], env),
  },
} as const satisfies Record<Variable, ServiceStarter>
