import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../../../src/config/config.ts'
import { argumentsOf, imageEnvironment, PINNED } from './dockerfile.ts'

interface Service {
  image?: string
  build?: { context: string; dockerfile: string }
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  networks: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  user?: string
  entrypoint?: string[]
  volumes?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}
interface Compose {
  services: Record<'opensearch' | 'redis' | 'stream' | 'api' | 'watch' | 'edge', Service>
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>
}

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const { services, networks }: Compose = parse(read('docker-compose.yml'), {
  merge: true,
})
const { opensearch, redis, stream, api, watch, edge } = services
const images = Object.values(services).flatMap(({ image }) => image ?? [])
const documented = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
const bySetting = Object.entries(api.environment ?? {})
const secretSettings = bySetting.filter(([name]) => /SECRET|PEPPER/.test(name))

describe('the compose file', () => {
  it.each(images)('the compose file pins %s to a full version', (image) => {
    expect(image).toMatch(PINNED)
  })

  it('the compose file publishes ports on loopback only', () => {
    const published = Object.values(services).flatMap(({ ports }) => ports ?? [])
    expect(published).toContain('127.0.0.1:3000:3000')
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  it('the compose file lets only the service reach the stores, which have no password here', () => {
    for (const { ports, networks: joined } of [opensearch, redis, stream]) {
      expect(ports).toBeUndefined()
      expect(joined).toEqual(['stores'])
    }
    expect(networks['stores']).toEqual({ internal: true })
  })

  it.each(Object.entries(services))(
    'the compose file drops all capabilities of %s',
    (_, service) => {
      expect(service.cap_drop).toEqual(['ALL'])
      expect(service.security_opt).toEqual(['no-new-privileges:true'])
    },
  )

  it('the compose file starts the API when both stores are healthy', () => {
    expect(api.depends_on).toEqual({
      opensearch: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    })
    expect(opensearch.healthcheck?.test).toContain('curl')
    expect(redis.healthcheck?.test.join(' ')).toContain('redis-cli ping')
  })

  it('the counters of Redis are not persisted, and a full memory evicts the nearest expiry', () => {
    expect(redis.command?.join(' ')).toBe(
      '--save  --appendonly no --maxmemory 64mb --maxmemory-policy volatile-ttl',
    )
    expect(redis.read_only).toBe(true)
  })

  it('the change stream is persisted, and a full memory rejects writes', () => {
    expect(stream.command?.join(' ')).toBe(
      '--save  --appendonly yes --appendfsync always --maxmemory 256mb --maxmemory-policy noeviction',
    )
    expect(stream.volumes).toEqual(['stream-data:/data'])
  })

  it('the watch starts after the demo orders are loaded, and does not replace the load', () => {
    expect(watch.command).toEqual(['index', 'watch'])
    expect(watch.depends_on).toEqual({
      api: { condition: 'service_healthy' },
      stream: { condition: 'service_healthy' },
    })
    const { CONSOLE_PORT: _port, CONSOLE_URL: _url, ...shared } = api.environment ?? {}
    expect(watch.environment).toEqual(shared)
  })
})

describe('the console in the compose file', () => {
  it('is behind the edge, under the host name of its links', () => {
    const { CONSOLE_PORT: port, CONSOLE_URL: origin } = api.environment ?? {}
    expect(edge.environment?.['EDGE_CONSOLE']).toBe(`api:${port}`)
    expect(new URL(String(origin)).hostname).toBe(edge.environment?.['EDGE_CONSOLE_HOST'])
  })

  it('no service publishes a port of the console or of the management API', () => {
    const published = JSON.stringify(Object.values(services).map(({ ports }) => ports ?? []))
    expect(published).not.toMatch(/300[23]/)
    expect(JSON.stringify(services)).not.toContain('MANAGEMENT_PORT')
  })
})

describe('the API in the compose file', () => {
  it('the API is built from the Dockerfile and serves the demo', () => {
    expect(api.build).toEqual({ context: '.', dockerfile: 'docker/Dockerfile' })
    expect(api.command).toEqual(['serve', '--demo'])
  })

  it('the API has a read-only file system', () => {
    expect(api.read_only).toBe(true)
  })

  it('the API keeps the unprivileged user of the image', () => {
    expect(api.user).toBeUndefined()
    expect(argumentsOf('USER').at(-1)).toMatch(/^[1-9]/)
  })

  it('the API is healthy once it is ready, since the edge and the watch depend on that', () => {
    const [image = ''] = argumentsOf('HEALTHCHECK')
    const live: string[] = JSON.parse(image.replace(/^.* CMD /, ''))
    const ready = live.map((part) => part.replace('/health/live', '/health/ready'))
    expect(api.healthcheck?.test).toEqual(['CMD', ...ready])
    expect(ready.join()).toContain('/health/ready')
  })

  it('the watch keeps the liveness check of the image', () => {
    expect(watch.healthcheck).toBeUndefined()
    expect(argumentsOf('HEALTHCHECK')).toEqual([expect.stringContaining('/health/live')])
  })

  it.each(bySetting)('the API sets %s, which .env.example documents', (name) => {
    expect(documented).toContain(name)
  })

  it.each(secretSettings)('the secret %s has a value that names the demo', (_, value) => {
    const secret = Buffer.from(value.replace(/^demo:/, ''), 'base64').toString()
    expect(secret).toMatch(/^for the demo only: /)
  })

  it('the API has settings that the service accepts', () => {
    const config = parseConfig({ ...imageEnvironment, ...api.environment })
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, operationsPort: 3001 })
    expect(config.opensearchUrls).toHaveLength(1)
    expect(config.redisUrls).toHaveLength(1)
    expect(config.streamRedisUrls).toHaveLength(1)
  })
})

describe('the edge in the compose file', () => {
  it('the edge publishes its TLS and plain HTTP ports on loopback only', () => {
    expect(edge.ports).toEqual(['127.0.0.1:8443:8443', '127.0.0.1:8080:8080'])
  })

  it('the edge runs the configuration of production and the tests, with documented settings', () => {
    const path = '/usr/local/etc/haproxy/haproxy.cfg'
    expect(edge.volumes).toEqual([`./docker/edge/haproxy.cfg:${path}:ro`])
    expect(edge.command?.join()).toContain(`exec haproxy -W -db -f ${path}`)
    const comments = read('docker/edge/haproxy.cfg').split('\nglobal\n')[0]
    for (const name of Object.keys(edge.environment ?? {})) expect(comments).toContain(`# ${name}`)
  })

  it('the edge keeps the unprivileged user of its image, on a read-only file system', () => {
    expect(edge.user).toBeUndefined()
    expect(edge.read_only).toBe(true)
  })

  it('the edge creates a certificate at its configured path before it starts', () => {
    const [, file] = /-out (\S+)/.exec(edge.command?.join() ?? '') ?? []
    expect(edge.command?.join()).toContain(`-keyout ${file}.key `)
    expect(edge.environment).toMatchObject({ EDGE_CERTIFICATE: file })
  })

  it('the edge accepts requests for localhost', () => {
    expect(edge.environment).toMatchObject({ EDGE_REFUSE_LOCALHOST: 'no' })
  })

  it('the edge shares one network with the API, which trusts forwarded addresses only from there', () => {
    const shared = edge.networks.filter((name) => api.networks.includes(name))
    expect(shared).toEqual(['edge'])
    expect(networks['edge']?.internal).toBe(true)
    const subnets = networks['edge']?.ipam?.config.map(({ subnet }) => subnet)
    expect(api.environment?.['TRUST_PROXY']?.split(',')).toEqual(subnets)
  })
})
