import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { type Dispatcher, Pool } from 'undici'
import { readCaFile } from '../../../src/config/ca-file.ts'
import { parseConfig } from '../../../src/config/config.ts'

// The least that a page costs in a process of Fastify, without a log: one GET in Redis, then one
// search, whose bytes are returned as they are. GET /7/900 sends the search at 7 in the given file,
// and returns the first 900 bytes of its response; GET /7 all of them.
interface StoredSearch extends Pick<Dispatcher.DispatchOptions, 'path' | 'method'> {
  headers: Record<string, string>
  body: string
}

const CONNECTIONS = 64
const searches: StoredSearch[] = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const config = parseConfig(process.env)
const ca = readCaFile('OPENSEARCH_CA_FILE', config.opensearchCaFile)
const redisCa = readCaFile('REDIS_CA_FILE', config.redisCaFile)
const [redisUrl = ''] = config.redisUrls ?? []
const redis = new Redis(redisUrl, redisCa ? { tls: { ca: redisCa } } : {})
const settings = { connections: CONNECTIONS, ...(ca !== undefined && { connect: { ca } }) }
const nodes = (config.opensearchUrls ?? []).map((url) => new Pool(new URL(url).origin, settings))
let turn = 0

function dispatch(search: StoredSearch): Promise<Buffer> {
  const node = nodes[turn++ % nodes.length]
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    node?.dispatch(search, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve(Buffer.concat(chunks)),
      onResponseError: (_controller, error) => reject(error),
    })
  })
}

const app = Fastify()
app.get<{ Params: { at: number; bytes?: string } }>('/:at/:bytes?', async ({ params }, reply) => {
  const search = searches[params.at]
  if (search === undefined) return reply.callNotFound()
  await redis.get(config.redisPrefix)
  const response = await dispatch(search)
  const bytes = Number(params.bytes ?? response.length)
  return reply.type('application/json').send(response.subarray(0, bytes))
})
const address = await app.listen({ host: config.host, port: config.port })
console.log(`Server listening at ${address}`)
await import('./operations.ts')
