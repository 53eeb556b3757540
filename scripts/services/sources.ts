import type { Tool } from './choose.ts'
import {
  type RunningService,
  startOpenSearchContainers,
  startRedisContainer,
} from './containers.ts'
import { findJava } from './jdk.ts'
import { startOpenSearch } from './opensearch.ts'
import { findOnPath } from './path.ts'
import { startRedis } from './redis.ts'

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
    async lacking(env) {
      const lacking: Tool[] = []
      if (!(await findJava(env))) lacking.push('jdk')
      if (!findOnPath('mvn', env)) lacking.push('maven')
      return lacking
    },
  },
  REDIS_URL: {
    name: 'Redis',
    container: startRedisContainer,
    process: (env) => startRedis({ env }),
    async lacking(env) {
      return findOnPath('redis-server', env) ? [] : ['redis-server']
    },
  },
} as const satisfies Record<Variable, Source>
