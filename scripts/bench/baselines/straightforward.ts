import { Client } from '@opensearch-project/opensearch'
import { Redis } from 'ioredis'
import { readCaFile } from '../../../src/config/ca-file.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { loadSecrets } from '../../../src/config/secrets.ts'
import { indexNames } from '../../../src/stores/opensearch/indices/index-names.ts'
import { buildStraightforward } from './straightforward-app.ts'

// Serves the stores in the settings of the service until it is killed.
const config = parseConfig(process.env)
const ca = readCaFile('OPENSEARCH_CA_FILE', config.opensearchCaFile)
const redisCa = readCaFile('REDIS_CA_FILE', config.redisCaFile)
const [redisUrl = ''] = config.redisUrls ?? []

const app = await buildStraightforward({
  client: new Client({ nodes: [...(config.opensearchUrls ?? [])], ...(ca && { ssl: { ca } }) }),
  redis: new Redis(redisUrl, redisCa ? { tls: { ca: redisCa } } : {}),
  redisPrefix: config.redisPrefix,
  names: indexNames(config.indexPrefix),
  keyPepper: loadSecrets(config).keyPepper,
})
await app.listen({ host: config.host, port: config.port })
await import('./operations.ts')
