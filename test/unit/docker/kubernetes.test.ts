import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseConfig } from '../../../src/config/config.ts'
import { argumentsOf, imageEnvironment } from './dockerfile.ts'

interface Probe {
  httpGet: { path: string; port: string }
  periodSeconds: number
}
interface Container {
  args: string[]
  envFrom: { secretRef?: { name: string }; configMapRef?: { name: string } }[]
  ports: { name: string; containerPort: number }[]
  livenessProbe: Probe
  readinessProbe: Probe
  securityContext: object
}
interface Resource {
  kind: string
  metadata: { name: string }
  data?: Record<string, string>
  spec: {
    replicas?: number
    podSelector?: object
    ingress?: { ports: { port: number }[] }[]
    egress?: { to: { ipBlock?: { except: string[] } }[]; ports: { port: number }[] }[]
    scaleTargetRef?: { name: string }
    template: {
      spec: {
        terminationGracePeriodSeconds: number
        securityContext: object
        containers: [Container]
      }
    }
  }
}

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const resources = globSync('docker/kubernetes/*.yaml', { cwd: root }).flatMap((file) =>
  parseAllDocuments(read(file)).map((document): Resource => document.toJS()),
)
const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind)
const deployments = ofKind('Deployment').map(({ metadata, spec }) => [metadata.name, spec] as const)
const namesOf = (kind: string) => new Set(ofKind(kind).map(({ metadata }) => metadata.name))

describe('the example for Kubernetes', () => {
  it('has the API, two watches and two dispatchers, each with a disruption budget', () => {
    const replicas = Object.fromEntries(deployments.map(([name, spec]) => [name, spec.replicas]))
    expect(replicas).toEqual({ 'orders-watch': 2, 'orders-webhooks': 2, 'orders-api': undefined })
    expect(namesOf('PodDisruptionBudget')).toEqual(new Set(Object.keys(replicas)))
  })

  it('only the API is scaled, and the autoscaler alone sets its replicas', () => {
    const targets = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef?.name)
    expect(targets).toEqual(['orders-api'])
  })

  it.each(deployments)('%s has both probes on the operations port', (_, { template }) => {
    const { livenessProbe, readinessProbe, ports } = template.spec.containers[0]
    expect(livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'operations' })
    expect(readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'operations' })
    const operations = ports.find(({ name }) => name === 'operations')
    expect(`${operations?.containerPort}`).toBe(imageEnvironment['OPERATIONS_PORT'])
  })

  it('readiness of the API is queried often enough for a graceful shutdown', () => {
    const api = deployments.find(([name]) => name === 'orders-api')?.[1]
    expect(api?.template.spec.containers[0].readinessProbe.periodSeconds).toBeLessThanOrEqual(2)
  })

  it.each(deployments)('%s is hardened, and has time for its shutdown', (_, { template }) => {
    expect(template.spec.terminationGracePeriodSeconds).toBe(20)
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(Number(argumentsOf('USER').at(-1)?.split(':')[0])).toBeGreaterThan(0)
    expect(template.spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  it.each(deployments)('%s has its secrets from a Secret that is not in the files', (_, spec) => {
    const sources = spec.template.spec.containers[0].envFrom
    expect(sources).toContainEqual({ secretRef: { name: 'orders-api' } })
    expect(ofKind('Secret')).toEqual([])
  })

  it('the settings of the ConfigMap are valid, with the Secret that the text describes', () => {
    const data = ofKind('ConfigMap')[0]?.data ?? {}
    const secret = Buffer.alloc(32, 'x').toString('base64')
    const config = parseConfig({
      ...imageEnvironment,
      ...data,
      OPENSEARCH_URL: 'https://user:password@opensearch:9200',
      REDIS_URL: 'rediss://redis:6379',
      STREAM_REDIS_URL: 'rediss://stream:6379',
      CURSOR_SECRETS: `k1:${secret}`,
      KEY_PEPPER: secret,
      WEBHOOK_SECRETS: `k1:${secret}`,
    })
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000 })
  })

  it('no policy opens a port beside the API and, for the monitoring, the operations', () => {
    const opened = ofKind('NetworkPolicy').flatMap(({ spec }) =>
      (spec.ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port)),
    )
    expect(new Set(opened)).toEqual(new Set([3000, 3001]))
    const names = JSON.stringify(ofKind('NetworkPolicy').map(({ spec }) => spec.podSelector))
    for (const [name] of deployments) expect(names).toContain(name)
  })

  it('the dispatcher reaches no private IPv4 address beside OpenSearch', () => {
    const egress = ofKind('NetworkPolicy').flatMap(({ spec }) => spec.egress ?? [])
    const ports = egress.flatMap((rule) => rule.ports.map(({ port }) => port))
    expect(new Set(ports)).toEqual(new Set([53, 9200, 443, 8443]))
    const blocks = egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? []))
    expect(blocks).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '127.0.0.0/8']))
  })
})
