import type { Tool } from './choose.ts'
import {
  type RunningService,
  startOpenSearchContainers,
  startRedisContainer,
} from './containers.ts'
import { startOpenSearch } from './opensearch.ts'
import { startRedis } from './redis.ts'
import { lackingOf } from './tools.ts'

/** Where a service comes from when its variable is not set. */
interface Source {
  name: string
  container(): Promise<RunningService>
  process(env: NodeJS.ProcessEnv): Promise<RunningService>
  /** What the local process needs and this machine does not have. */
  lacking(env: NodeJS.ProcessEnv): Promise<Tool[]>
}

export type Variable = 'OPENSEARCH_URL' | 'REDIS_URL'

export const sources = {
  OPENSEARCH_URL: {
    name: 'OpenSearch',
    container: startOpenSearchContainers,
    process: (env) => startOpenSearch({ env }),
    lacking: (env) => lackingOf(['jdk', 'maven'], env),
  },
  REDIS_URL: {
    name: 'Redis',
    container: startRedisContainer,
    process: (env) => startRedis({ env }),
    lacking: (env) => lackingOf(['redis-server'], env),
  },
} as const satisfies Record<Variable, Source>
