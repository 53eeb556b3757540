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
  it.each(images)('pins %s to a full version', (image) => {
    expect(image).toMatch(PINNED)
  })

  it('publishes ports on loopback alone', () => {
    const published = Object.values(services).flatMap(({ ports }) => ports ?? [])
    expect(published).toContain('127.0.0.1:3000:3000')
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  it('reaches the stores, which ask for no password here, from the service alone', () => {
    for (const { ports, networks: joined } of [opensearch, redis, stream]) {
      expect(ports).toBeUndefined()
      expect(joined).toEqual(['stores'])
    }
    expect(networks['stores']).toEqual({ internal: true })
  })

  it.each(Object.entries(services))('leaves %s no capability to take or gain', (_, service) => {
    expect(service.cap_drop).toEqual(['ALL'])
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
  })

  it('starts the API when both stores are healthy', () => {
    expect(api.depends_on).toEqual({
      opensearch: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    })
    expect(opensearch.healthcheck?.test).toContain('curl')
    expect(redis.healthcheck?.test.join(' ')).toContain('redis-cli ping')
  })

  it('keeps no counter on disk, and drops the one nearest its end when memory is full', () => {
    expect(redis.command?.join(' ')).toBe(
      '--save  --appendonly no --maxmemory 64mb --maxmemory-policy volatile-ttl',
    )
    expect(redis.read_only).toBe(true)
  })

  it('keeps the stream of changes on disk, and takes no more when memory is full', () => {
    expect(stream.command?.join(' ')).toBe(
      '--save  --appendonly yes --maxmemory 256mb --maxmemory-policy noeviction',
    )
    expect(stream.volumes).toEqual(['stream-data:/data'])
  })

  it('starts the watch once the demo orders are loaded, and not in their place', () => {
    expect(watch.command).toEqual(['index', 'watch'])
    expect(watch.depends_on).toEqual({
      api: { condition: 'service_healthy' },
      stream: { condition: 'service_healthy' },
    })
    expect(watch.environment).toEqual(api.environment)
  })
})

describe('the API in the compose file', () => {
  it('is built from the Dockerfile and serves the demo', () => {
    expect(api.build).toEqual({ context: '.', dockerfile: 'docker/Dockerfile' })
    expect(api.command).toEqual(['serve', '--demo'])
  })

  it('has a read-only file system', () => {
    expect(api.read_only).toBe(true)
  })

  it('leaves the user of the image as it is, which is not root', () => {
    expect(api.user).toBeUndefined()
    expect(argumentsOf('USER').at(-1)).toMatch(/^[1-9]/)
  })

  it('is healthy once it is ready, since the edge and the watch wait for that', () => {
    const [image = ''] = argumentsOf('HEALTHCHECK')
    const live: string[] = JSON.parse(image.replace(/^.* CMD /, ''))
    const ready = live.map((part) => part.replace('/health/live', '/health/ready'))
    expect(api.healthcheck?.test).toEqual(['CMD', ...ready])
    expect(ready.join()).toContain('/health/ready')
  })

  it('leaves the health check of the image, which is liveness, to the watch', () => {
    expect(watch.healthcheck).toBeUndefined()
    expect(argumentsOf('HEALTHCHECK')).toEqual([expect.stringContaining('/health/live')])
  })

  it.each(bySetting)('sets %s, which .env.example documents', (name) => {
    expect(documented).toContain(name)
  })

  it.each(secretSettings)('says in the very bytes of %s that they are for the demo', (_, value) => {
    const secret = Buffer.from(value.replace(/^demo:/, ''), 'base64').toString()
    expect(secret).toMatch(/^for the demo only: /)
  })

  it('has settings that the service accepts', () => {
    const config = parseConfig({ ...imageEnvironment, ...api.environment })
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, operationsPort: 3001 })
    expect(config.opensearchUrls).toHaveLength(1)
    expect(config.redisUrls).toHaveLength(1)
    expect(config.streamRedisUrls).toHaveLength(1)
  })
})

describe('the edge in the compose file', () => {
  it('serves by TLS and tells who comes without, on loopback', () => {
    expect(edge.ports).toEqual(['127.0.0.1:8443:8443', '127.0.0.1:8080:8080'])
  })

  it('runs the configuration that production and the tests run, with settings that it documents', () => {
    const path = '/usr/local/etc/haproxy/haproxy.cfg'
    expect(edge.volumes).toEqual([`./docker/edge/haproxy.cfg:${path}:ro`])
    expect(edge.command?.join()).toContain(`exec haproxy -W -db -f ${path}`)
    const head = read('docker/edge/haproxy.cfg').split('\nglobal\n')[0]
    for (const name of Object.keys(edge.environment ?? {})) expect(head).toContain(`# ${name}`)
  })

  it('leaves the user of its image as it is, which is not root, and has a read-only file system', () => {
    expect(edge.user).toBeUndefined()
    expect(edge.read_only).toBe(true)
  })

  it('makes a certificate before it starts, where it looks for one', () => {
    const [, file] = /-out (\S+)/.exec(edge.command?.join() ?? '') ?? []
    expect(edge.command?.join()).toContain(`-keyout ${file}.key `)
    expect(edge.environment).toMatchObject({ EDGE_CERTIFICATE: file })
  })

  it('lets people call localhost', () => {
    expect(edge.environment).toMatchObject({ EDGE_REFUSE_LOCALHOST: 'no' })
  })

  it('shares one network with the API, which believes what comes from there and nowhere else', () => {
    const shared = edge.networks.filter((name) => api.networks.includes(name))
    expect(shared).toEqual(['edge'])
    expect(networks['edge']?.internal).toBe(true)
    const subnets = networks['edge']?.ipam?.config.map(({ subnet }) => subnet)
    expect(api.environment?.['TRUST_PROXY']?.split(',')).toEqual(subnets)
  })
})
